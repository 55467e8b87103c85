internal import Glibc

/// A small file of text that only its owner can read, created and changed as a whole.
struct SecretFile {
    let path: String
    /// Whether a group may read the file, as with a secret that is mounted on several servers; see
    /// ``FileModes/isFitForSecrets(_:)``.
    var isShared = false

    private static let limit = 16_384

    /// The temporary file that new content is written to, under the lock, before it is renamed to ``path``.
    private var draft: String { path + ".draft" }

    /// Returns the content, and whether other users may read or change the file.
    func read() throws(SystemError) -> (text: String, isOpenToOthers: Bool) {
        let file = try OpenFile(path, O_RDONLY)
        let text = String(decoding: try file.readAll(limit: Self.limit), as: UTF8.self)
        return (text, try isShared ? !file.isFitForSecrets() : file.isOpenToOthers())
    }

    /// Reads a file of keys.
    ///
    /// - Parameters:
    ///   - name: the noun for its content, for messages.
    ///   - pronoun: "its", or "their" for several keys.
    ///   - outOfReach: returns the failure for a file that cannot be read.
    /// - Returns: the content.
    /// - Throws: if the file cannot be read, or if other users may read or change it.
    func secret(
        _ name: String,
        of pronoun: String,
        _ outOfReach: (SystemError) -> CommandFailure
    ) throws -> String {
        let (text, isOpenToOthers) = try attempt(orElse: outOfReach) { try read() }
        guard isOpenToOthers else { return text }
        throw CommandFailure.configuration(
            "The \(name) \(path) can be read or changed by others than \(pronoun) owner."
        ).advising("Run `chmod 600 \(ShellWord.quoted(operand: path))`.")
    }

    /// Creates the file unless it exists: another process that starts on the same database may have created it.
    func make(
        _ text: String,
        forOwnerOfFolder: Bool = false,
        _ outOfReach: (SystemError) -> CommandFailure
    ) throws {
        do throws(SystemError) {
            if forOwnerOfFolder { try create(text) } else { try TextFile.create(path, text: text) }
        } catch {
            guard error.number != EEXIST else { return }
            throw outOfReach(error)
        }
    }

    /// A stamp that changes with the file; empty if there is no such file.
    var stamp: [Int] {
        guard let status = TextFile.status(of: path) else { return [] }
        return [Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    /// Creates the file and gives it to the owner of its folder; no reader ever sees it half-written.
    ///
    /// - Throws: `EEXIST` if the file exists, or another error of the system.
    func create(_ text: String) throws(SystemError) {
        try TextFile.create(path, text: text)
        try TextFile.giveToOwnerOfFolder(path)
    }

    /// Replaces the content in one step, on disk when this returns; the file keeps its owner.
    ///
    /// Called under the lock.
    ///
    /// - Parameters:
    ///   - text: the new content.
    ///   - erasesFormer: whether to overwrite the previous content with zeros, which works where the file system writes
    ///     in place.
    /// - Throws: the error of the system.
    func replace(by text: String, erasesFormer: Bool = false) throws(SystemError) {
        let former = try OpenFile(path, erasesFormer ? O_RDWR : O_RDONLY)
        defer { TextFile.delete(draft) }
        let file = try OpenFile(draft, O_WRONLY | O_CREAT | O_EXCL)
        try file.matchOwner(of: former)
        try file.write(Array(text.utf8))
        try file.synchronize()
        try TextFile.rename(draft, to: path)
        if erasesFormer { try former.erase() }
    }

    /// Gives the file another name, or copies and deletes it if that name is on another file system.
    func move(to name: String) throws(SystemError) {
        do throws(SystemError) {
            try TextFile.rename(path, to: name)
        } catch {
            guard error.number == EXDEV else { throw error }
            try SecretFile(path: name).create(try read().text)
            TextFile.delete(path)
        }
    }

    /// Runs `body` under the lock on the file's folder, which every process takes before it replaces a secret file.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        // Lock the folder: the file itself is replaced by a new one. If `body` throws, closing the descriptor unlocks it.
        let folder = try attempt(
            "The folder of \(path) cannot be locked",
            advice: "It must belong to the user that Afterlink runs as."
        ) {
            let folder = try OpenFile(TextFile.directory(of: path), O_RDONLY | O_DIRECTORY)
            try folder.lock()
            return folder
        }
        // A killed process may have left its draft, which contains keys.
        TextFile.delete(draft)
        let result = try body()
        folder.unlock()
        return result
    }
}
