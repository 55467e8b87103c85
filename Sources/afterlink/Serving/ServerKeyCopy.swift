internal import Attribution
internal import Glibc

/// The server key on its way between a database and its backup.
struct ServerKeyCopy {
    let key: ServerKey
    private let text: String

    /// Reads a key file that must be there, whole, and its owner's only.
    init(at path: String) throws(CommandFailure) {
        key = try ServerKeyFile(path: path).open(databaseIsNew: false)
        do throws(SystemError) {
            text = String(decoding: try OpenFile(path, O_RDONLY).readAll(limit: 1024), as: UTF8.self)
        } catch {
            throw CommandFailure(
                "The server key is out of reach: \(error.text).",
                advice: "Its file must belong to the user that Afterlink runs as."
            )
        }
    }

    /// Whether a file holds this very key.
    func isSame(asAt path: String) -> Bool {
        let other = try? OpenFile(path, O_RDONLY).readAll(limit: 1024)
        return other.map { String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace } }
            == text.filter { !$0.isWhitespace }
    }

    /// Writes the key into a new file for its owner's eyes only; returns when it is on disk.
    func create(at path: String) throws(CommandFailure) {
        do throws(SystemError) {
            try TextFile.create(path, text: text)
            try TextFile.giveToOwnerOfFolder(path)
        } catch {
            throw CommandFailure(
                "The server key could not be copied: \(error.text).",
                advice: "Nothing else was changed; make room or mend the folder's mode, and try again."
            )
        }
    }
}
