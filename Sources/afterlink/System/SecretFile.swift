internal import Glibc

/// A small file of text for its owner's eyes only, which is made and changed as a whole.
struct SecretFile {
    let path: String

    private static let limit = 16_384

    /// The file that the next content is written to, under the lock.
    private var draft: String { path + ".draft" }

    /// Returns the content, and whether other users may read or change the file.
    func read() throws(SystemError) -> (text: String, isOpenToOthers: Bool) {
        let file = try OpenFile(path, O_RDONLY)
        let text = String(decoding: try file.readAll(limit: Self.limit), as: UTF8.self)
        return (text, try file.isOpenToOthers())
    }

    /// Returns the content of a file of keys.
    ///
    /// - Parameters:
    ///   - name: what the file holds, for messages.
    ///   - pronoun: "its", or "their" for several keys.
    ///   - outOfReach: explains why the file cannot be read.
    /// - Returns: the content.
    /// - Throws: also if other users may read or change the file.
    func secret(
        _ name: String,
        of pronoun: String,
        _ outOfReach: (SystemError) -> CommandFailure
    ) throws -> String {
        let (text, isOpenToOthers) = try attempt({ try read() }, orElse: outOfReach)
        guard isOpenToOthers else { return text }
        throw CommandFailure.because(
            "The \(name) \(path) can be read or changed by others than \(pronoun) owner."
        )
        .advising("Run `chmod 600 \(ShellWord.quoted(operand: path))`.")
    }

    /// Makes the file unless it exists: another process, starting on the same database, may be faster.
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
        var status = stat()
        // The kernel fills the local value.
        guard unsafe stat(path, &status) == 0 else { return [] }
        return [Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    /// Makes the file for the owner of its folder.
    ///
    /// - Throws: also if the file exists. No reader ever sees it half-written.
    func create(_ text: String) throws(SystemError) {
        try TextFile.create(path, text: text)
        try TextFile.giveToOwnerOfFolder(path)
    }

    /// Puts another text in its place in one step, on disk when this returns; it keeps its owner.
    ///
    /// Called under the lock.
    ///
    /// - Parameters:
    ///   - text: what it is to hold.
    ///   - erasesFormer: overwrites what was there, as far as the file system writes in place.
    /// - Throws: what the system refused.
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

    /// Keeps every other process that changes files of this folder out meanwhile.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        // Lets go of the lock when it is closed. A folder's, because a file that is replaced is another one afterwards.
        let folder = try lockedFolder()
        // What a killed process left behind holds keys, too.
        TextFile.delete(draft)
        let result = try body()
        folder.unlock()
        return result
    }

    private func lockedFolder() throws -> OpenFile {
        try attempt(
            "The folder of \(path) cannot be locked",
            advice: "It must belong to the user that Afterlink runs as."
        ) {
            let folder = try OpenFile(TextFile.directory(of: path), O_RDONLY | O_DIRECTORY)
            try folder.lock()
            return folder
        }
    }
}
