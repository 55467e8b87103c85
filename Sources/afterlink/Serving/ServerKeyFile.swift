internal import Attribution
internal import Crypto
internal import Glibc

/// The file that holds the server key: 32 random bytes as 64 hexadecimal digits, for its owner's eyes only.
struct ServerKeyFile {
    let path: String

    /// The key in the file; a new one where there is no file and nothing was hashed yet.
    ///
    /// - Parameter databaseIsNew: whether nothing in the database depends on a key.
    /// - Returns: the key.
    /// - Throws: when the file is missing and needed, malformed, or open to others.
    func open(databaseIsNew: Bool) throws(CommandFailure) -> ServerKey {
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
        guard let key = Self.bytes(ofHexadecimal: text).flatMap(ServerKey.init(bytes:)) else {
            throw CommandFailure(
                "The server key \(path) is damaged: it must hold 64 hexadecimal digits.",
                advice: "Put it back from the backup; with another key no click in the database can be found."
            )
        }
        return key
    }

    private func make() throws(CommandFailure) {
        do throws(SystemError) {
            try TextFile.create(path, text: Self.hexadecimal(SystemRandom.bytes(ServerKey.byteCount)) + "\n")
        } catch {
            // Somebody else who starts on the same database was faster: theirs it is.
            guard error.number != EEXIST else { return }
            throw outOfReach(error)
        }
    }

    private func content() throws(CommandFailure) -> (text: String, isOpenToOthers: Bool) {
        do throws(SystemError) {
            let file = try OpenFile(path, O_RDONLY)
            let text = String(decoding: try file.readAll(limit: 1024), as: UTF8.self)
            return (text, try file.isOpenToOthers())
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

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A line end behind the digits is no part of them.
    private static func bytes(ofHexadecimal text: String) -> [UInt8]? {
        var digits: [UInt8] = []
        for character in text.hasSuffix("\n") ? text.dropLast() : text[...] {
            guard let digit = character.hexDigitValue, character.isASCII else { return nil }
            digits.append(UInt8(digit))
        }
        guard digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
