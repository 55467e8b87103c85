internal import Attribution
internal import Crypto
internal import Glibc

/// The file that holds the server keys, for its owner's eyes only: see ``ServerKeyList``.
struct ServerKeyFile {
    let path: String

    private var file: SecretFile { SecretFile(path: path) }
    /// See ``SecretFile/stamp``.
    var stamp: [Int] { file.stamp }

    /// The keys in the file; a new one where there is no file and nothing was hashed yet.
    ///
    /// - Parameter databaseIsNew: whether nothing in the database depends on a key.
    /// - Returns: the keys.
    /// - Throws: when the file is missing and needed, malformed, or open to others.
    func open(databaseIsNew: Bool) throws(CommandFailure) -> ServerKeyList {
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

    /// Changes what the file holds in one step, while no other process does.
    ///
    /// - Parameters:
    ///   - erasesFormer: whether what was there is destroyed.
    ///   - body: gives the keys that are to take the place of those there are; nil: nothing is changed.
    /// - Returns: what the file holds now.
    /// - Throws: what keeps it from being read or changed.
    @discardableResult
    func change(
        erasesFormer: Bool = false,
        _ body: (ServerKeyList) throws(CommandFailure) -> ServerKeyList?
    ) throws(CommandFailure) -> ServerKeyList {
        try file.withLock { () throws(CommandFailure) in
            let list = try open(databaseIsNew: false)
            guard let changed = try body(list) else { return list }
            do throws(SystemError) {
                try file.replace(by: changed.text, erasesFormer: erasesFormer)
            } catch {
                throw outOfReach(error)
            }
            return changed
        }
    }

    private func make() throws(CommandFailure) {
        let key = ServerKeyList.Entry(bytes: SystemRandom.bytes(ServerKey.byteCount))
        do throws(SystemError) {
            try TextFile.create(path, text: ServerKeyList([key]).text)
        } catch {
            // Somebody else who starts on the same database was faster: theirs it is.
            guard error.number != EEXIST else { return }
            throw outOfReach(error)
        }
    }

    private func content() throws(CommandFailure) -> (text: String, isOpenToOthers: Bool) {
        do throws(SystemError) {
            return try file.read()
        } catch {
            throw outOfReach(error)
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
