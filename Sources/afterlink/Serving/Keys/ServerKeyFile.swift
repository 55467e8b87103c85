internal import Attribution
internal import Crypto
internal import Glibc

/// The file of the server keys, readable only by its owner: see ``ServerKeyList``.
struct ServerKeyFile {
    let path: String

    private var file: SecretFile { SecretFile(path: path) }
    /// See ``SecretFile/stamp``.
    var stamp: [Int] { file.stamp }

    /// Returns the keys in the file; makes a key if there is no file and nothing was hashed yet.
    ///
    /// - Parameter databaseIsNew: whether nothing in the database depends on a key.
    /// - Returns: the keys.
    /// - Throws: when the file is missing and needed, malformed, or open to others.
    func open(databaseIsNew: Bool) throws -> ServerKeyList {
        if databaseIsNew, !TextFile.exists(path) { try make() }
        guard TextFile.exists(path) else {
            throw CommandFailure(
                "The server key \(path) is missing, and without it no click in the database can be found.",
                advice: "Put it back from the backup, or name it with --server-key-file."
            )
        }
        let (text, isOpenToOthers) = try content()
        guard !isOpenToOthers else {
            throw CommandFailure(
                "The server key \(path) can be read or changed by others than its owner.",
                advice: "Run `chmod 600 \(ShellWord.quoted(operand: path))`."
            )
        }
        guard let list = ServerKeyList(text) else {
            throw CommandFailure(
                "The server key \(path) is damaged: it must hold 64 hexadecimal digits in each line.",
                advice: "Put it back from the backup; with another key no click in the database can be found."
            )
        }
        return list
    }

    /// Changes the file in one step, under a lock.
    ///
    /// - Parameters:
    ///   - erasesFormer: whether the previous content is destroyed.
    ///   - body: returns the keys that replace the current ones; nil to change nothing.
    /// - Returns: the new content.
    /// - Throws: if the file cannot be read or changed.
    @discardableResult
    func change(
        erasesFormer: Bool = false,
        _ body: (ServerKeyList) throws -> ServerKeyList?
    ) throws -> ServerKeyList {
        try file.withLock {
            let list = try open(databaseIsNew: false)
            guard let changed = try body(list) else { return list }
            try attempt {
                try file.replace(by: changed.text, erasesFormer: erasesFormer)
            } orElse: {
                outOfReach($0)
            }
            return changed
        }
    }

    private func make() throws {
        let key = ServerKeyList.Entry(bytes: SystemRandom.bytes(ServerKey.byteCount))
        do throws(SystemError) {
            try TextFile.create(path, text: ServerKeyList([key]).text)
        } catch {
            // Another process, starting on the same database, was faster: its key counts.
            guard error.number != EEXIST else { return }
            throw outOfReach(error)
        }
    }

    private func content() throws -> (text: String, isOpenToOthers: Bool) {
        try attempt {
            try file.read()
        } orElse: {
            outOfReach($0)
        }
    }

    private func outOfReach(_ error: SystemError) -> CommandFailure {
        CommandFailure(
            "The server key is out of reach: \(error.text).",
            advice:
                "Its directory must belong to the user that Afterlink runs as; --server-key-file names another."
        )
    }
}
