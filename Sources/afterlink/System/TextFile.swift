internal import Attribution
internal import Crypto
internal import Glibc

/// Small files of text, and what the system reports about files.
package enum TextFile {
    private static let limit = 1 << 20

    /// Returns the text of a configuration file.
    package static func read(_ path: String) throws -> String {
        try attempt(
            "The configuration file could not be read",
            .configuration,
            advice: "Give --config (or AFTERLINK_CONFIG) the path of a JSON file, or leave it out."
        ) { String(decoding: try OpenFile(path, O_RDONLY).readAll(limit: limit), as: UTF8.self) }
    }

    /// Creates a file that only its owner can read; returns when it is on disk.
    ///
    /// No reader ever sees it half-written.
    ///
    /// - Throws: `EEXIST` if the file exists, or another error of the system.
    static func create(_ path: String, text: String) throws(SystemError) {
        // The name contains random bytes and not the process's id: in containers that share a volume, several
        // processes can have the same id.
        let draft = "\(path).\(Hexadecimal.text(of: SystemRandom.bytes(draftBytes)))"
        defer { delete(draft) }
        let file = try OpenFile(draft, O_WRONLY | O_CREAT | O_EXCL)
        try file.write(Array(text.utf8))
        try file.synchronize()
        try publish(draft, as: path)
        do throws(SystemError) {
            // The file's name is in the directory, and a power cut could otherwise lose it.
            try OpenFile(directory(of: path), O_RDONLY | O_DIRECTORY).synchronize()
        } catch {
            delete(path)
            throw error
        }
    }

    /// Deletes the drafts of ``create(_:text:)`` that killed processes left.
    ///
    /// Keeps a draft that is younger than a minute, because another process may be writing it.
    static func deleteDrafts(of path: String, at now: Timestamp) {
        let folder = directory(of: path)
        let prefix = "\(path.split(separator: "/").last ?? "")."
        for name in DirectoryListing.names(in: folder) ?? [] where name.hasPrefix(prefix) {
            let draft = "\(folder)/\(name)"
            guard Hexadecimal.bytes(name.dropFirst(prefix.count))?.count == draftBytes,
                let status = status(of: draft), now.milliseconds / 1000 - Int64(status.st_mtim.tv_sec) > 60
            else { continue }
            delete(draft)
        }
    }

    /// The number of random bytes in a draft's name.
    private static let draftBytes = 8

    /// Gives a whole file its name in one step, unless the name is taken.
    private static func publish(_ draft: String, as path: String) throws(SystemError) {
        // Both paths are valid during the call.
        if unsafe link(draft, path) == 0 { return }
        guard errno != EEXIST else { throw SystemError("cannot make", path) }
        // Some shared folders do not support hard links. There, a file that another process creates meanwhile is
        // overwritten.
        guard !exists(path), unsafe Glibc.rename(draft, path) == 0 else {
            throw SystemError("cannot make", path)
        }
    }

    /// Returns the directory of a path.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the absolute path; no file need exist there.
    static func fullPath(_ path: String) -> String {
        // With nil, getcwd allocates the result, which is freed below.
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        // getcwd returns a text that ends in a zero byte.
        let here = unsafe String(cString: folder)
        let inside = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return inside.isEmpty || inside == "." ? here : (here == "/" ? "/" : here + "/") + inside
    }

    /// Renames in one step; returns when the new name is on disk.
    static func rename(_ path: String, to name: String) throws(SystemError) {
        // Both paths are valid during the call.
        guard unsafe Glibc.rename(path, name) == 0 else { throw SystemError("cannot rename", path) }
        try OpenFile(directory(of: name), O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// If this process runs as root, gives a new file to the owner of its folder.
    static func giveToOwnerOfFolder(_ path: String) throws(SystemError) {
        guard geteuid() == 0 else { return }
        // The path is valid during the call.
        guard let folder = status(of: directory(of: path)),
            unsafe lchown(path, folder.st_uid, folder.st_gid) == 0
        else { throw SystemError("cannot give away", path) }
    }

    static func exists(_ path: String) -> Bool {
        // The path is valid during the call.
        unsafe access(path, F_OK) == 0
    }

    /// Returns what stat(2) reports of a file; nil if the call fails.
    static func status(of path: String) -> stat? {
        var status = stat()
        // The kernel fills the local value; the path is valid during the call.
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    /// Returns an error if this user may not enter a directory of the path, so that ``exists(_:)`` cannot know.
    static func reachError(of path: String) -> SystemError? {
        guard !exists(path), errno == EACCES else { return nil }
        return SystemError("cannot enter", directory(of: path), number: EACCES)
    }

    /// - Throws: if this user may not enter a directory of the path.
    static func requireReach(of path: String) throws {
        guard let error = reachError(of: path) else { return }
        throw CommandFailure.because("\(path) cannot be opened: \(error.text).")
            .advising("Run the command as the user that Afterlink runs as, or name another path.")
    }

    static func isDirectory(_ path: String) -> Bool {
        status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// Creates a directory that only its owner can enter, unless it exists.
    static func createDirectory(_ path: String) throws(SystemError) {
        // The path is valid during the call.
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SystemError("cannot create the directory", path)
        }
    }

    static func delete(_ path: String) {
        // The path is valid during the call.
        _ = unsafe unlink(path)
    }
}

/// The modes of a service's files.
enum FileModes {
    /// Removes the rights of other users to the database and the files beside it.
    ///
    /// Call it before the database is opened, because SQLite gives the new files beside the database the mode of the
    /// database. Folders keep their modes, because other users may share them.
    ///
    /// A file at `path` that is neither empty nor a database of Afterlink keeps its mode, because the service does not
    /// start with such a file. It may be a device, such as `/dev/null`, or the database of another program.
    ///
    /// - Parameters:
    ///   - path: the path of the database, which may be missing or empty.
    ///   - isOwn: returns whether a file is a database of Afterlink.
    /// - Returns: a warning for each file that others could open, and for a folder that others can change.
    static func tighten(database path: String, if isOwn: (String) -> Bool) -> [String] {
        if let status = TextFile.status(of: path) {
            let isEmpty = status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
            guard isEmpty || isOwn(path) else { return [] }
        }
        let files = [path, path + "-wal", path + "-shm"].compactMap(tighten)
        let folder = TextFile.directory(of: path)
        // In a folder with the sticky bit, users cannot rename or delete the files of others.
        guard let mode = mode(of: folder), mode & 0o022 != 0, mode & S_ISVTX == 0 else { return files }
        return files + [
            "users other than its owner can change the folder \(folder) (mode \(octal(mode))) and replace the"
                + " database; run `chmod go-w \(ShellWord.quoted(operand: folder))`"
        ]
    }

    private static func tighten(_ path: String) -> String? {
        guard let mode = mode(of: path), mode & 0o077 != 0 else { return nil }
        // The path is valid during the call.
        guard unsafe chmod(path, mode & 0o700) == 0 else {
            return "users other than its owner can read or change \(path) (mode \(octal(mode))), and "
                + "\(SystemError("cannot change the mode of", path).text); run `chmod 600` on it as its owner"
        }
        return "users other than its owner could read or change \(path) (mode \(octal(mode)));"
            + " its mode is \(octal(mode & 0o700)) now"
    }

    /// Whether a file's mode is strict enough for a secret: only the owner can change the file, and other users cannot
    /// read it.
    ///
    /// The group may read it if root or another user owns it, or if the group is this process's: operators and
    /// containers share keys with a service in this way, for example in a file that is mounted on several servers.
    static func isFitForSecrets(_ status: stat) -> Bool {
        let isShared = status.st_uid == 0 || status.st_uid != geteuid() || status.st_gid == getegid()
        return status.st_mode & (isShared ? 0o037 : 0o077) == 0
    }

    /// Returns the permission bits; nil if there is no file.
    static func mode(of path: String) -> mode_t? { TextFile.status(of: path).map { $0.st_mode & 0o7777 } }

    private static func octal(_ mode: mode_t) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
