internal import Glibc

/// Small files of text, and whether files are there.
package enum TextFile {
    private static let limit = 1 << 20

    /// A configuration file's text.
    package static func read(_ path: String) throws -> String {
        try attempt(
            "The configuration file could not be read",
            .configuration,
            advice: "Give --config (or AFTERLINK_CONFIG) the path of a JSON file, or leave it out."
        ) { String(decoding: try OpenFile(path, O_RDONLY).readAll(limit: limit), as: UTF8.self) }
    }

    /// Makes a file that only its owner can read; returns when it is on disk.
    ///
    /// - Throws: also if the file exists. No reader ever sees it half-written.
    static func create(_ path: String, text: String) throws(SystemError) {
        let draft = "\(path).\(getpid())"
        // What a killed process of this number left behind.
        delete(draft)
        defer { delete(draft) }
        let file = try OpenFile(draft, O_WRONLY | O_CREAT | O_EXCL)
        try file.write(Array(text.utf8))
        try file.synchronize()
        try publish(draft, as: path)
        do throws(SystemError) {
            // The name is in the directory, which a power cut may forget by itself.
            try OpenFile(directory(of: path), O_RDONLY | O_DIRECTORY).synchronize()
        } catch {
            delete(path)
            throw error
        }
    }

    /// Gives a whole file its name in one step, unless the name is taken.
    private static func publish(_ draft: String, as path: String) throws(SystemError) {
        // Both paths live for the call.
        if unsafe link(draft, path) == 0 { return }
        guard errno != EEXIST else { throw SystemError("cannot make", path) }
        // Some shared folders have no hard links; there, two processes at the same moment cannot be distinguished.
        guard !exists(path), unsafe Glibc.rename(draft, path) == 0 else {
            throw SystemError("cannot make", path)
        }
    }

    /// The directory that a path is in.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path from the root on, without looking at what is there.
    static func fullPath(_ path: String) -> String {
        // The result is allocated by the call and freed below; nil asks for that.
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        // getcwd gives a text that ends in a zero.
        let here = unsafe String(cString: folder)
        let inside = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return inside.isEmpty || inside == "." ? here : (here == "/" ? "/" : here + "/") + inside
    }

    /// Renames in one step; returns when the new name is on disk.
    static func rename(_ path: String, to name: String) throws(SystemError) {
        // Both paths live for the call.
        guard unsafe Glibc.rename(path, name) == 0 else { throw SystemError("cannot rename", path) }
        try OpenFile(directory(of: name), O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// Gives a file that root makes in a service's folder to the service's user.
    static func giveToOwnerOfFolder(_ path: String) throws(SystemError) {
        guard geteuid() == 0 else { return }
        var status = stat()
        // The value and the paths live for the calls.
        guard unsafe stat(directory(of: path), &status) == 0,
            unsafe lchown(path, status.st_uid, status.st_gid) == 0
        else { throw SystemError("cannot give away", path) }
    }

    static func exists(_ path: String) -> Bool {
        // The path lives for the call.
        unsafe access(path, F_OK) == 0
    }

    /// - Throws: where it cannot even be seen whether there is such a file.
    static func requireReach(of path: String) throws {
        guard !exists(path), errno == EACCES else { return }
        throw CommandFailure(
            "\(path) is out of reach: \(SystemError("cannot enter", directory(of: path), number: EACCES).text).",
            advice: "Call the command as the user that Afterlink runs as, or name another path."
        )
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        // The kernel fills the local value.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes a directory that only its owner can enter, unless it is there.
    static func createDirectory(_ path: String) throws(SystemError) {
        // The path lives for the call.
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SystemError("cannot make the directory", path)
        }
    }

    static func delete(_ path: String) {
        // The path lives for the call.
        _ = unsafe unlink(path)
    }
}

/// The modes of a service's files.
enum FileModes {
    /// Removes the rights of other users to the database and the files beside it.
    ///
    /// To be called before the database is opened: SQLite gives new files beside it the database's own mode. Folders
    /// are left as they are, since other users may share them.
    ///
    /// - Returns: what was found, for the operator.
    static func tighten(database path: String) -> [String] {
        let files = [path, path + "-wal", path + "-shm"].compactMap(tighten)
        let folder = TextFile.directory(of: path)
        // With the sticky bit, users cannot move the files of others.
        guard let mode = mode(of: folder), mode & 0o022 != 0, mode & S_ISVTX == 0 else { return files }
        return files + [
            "the folder \(folder) can be changed by others than its owner (mode \(octal(mode))), who could put"
                + " another database into the place of this one; run `chmod go-w \(ShellWord.quoted(operand: folder))`"
        ]
    }

    private static func tighten(_ path: String) -> String? {
        guard let mode = mode(of: path), mode & 0o077 != 0 else { return nil }
        // The path lives for the call.
        guard unsafe chmod(path, mode & 0o700) == 0 else {
            return "\(path) can be read or changed by others than its owner (mode \(octal(mode))), and "
                + "\(SystemError("cannot change the mode of", path).text); run `chmod 600` on it as its owner"
        }
        return "\(path) could be read or changed by others than its owner (mode \(octal(mode)));"
            + " it is \(octal(mode & 0o700)) now"
    }

    /// The permission bits; nil where there is no file.
    static func mode(of path: String) -> mode_t? {
        var status = stat()
        // The kernel fills the local value.
        guard unsafe stat(path, &status) == 0 else { return nil }
        return status.st_mode & 0o7777
    }

    private static func octal(_ mode: mode_t) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
