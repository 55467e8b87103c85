import Attribution
import Foundation

/// A database, its server key and the keys of its app, in a folder of their own.
final class Installation {
    struct Keys: Codable {
        let app: String
        let server: String
        let admin: String
    }

    private struct Printed: Codable {
        let keys: Keys
    }

    let folder: String
    let keys: Keys
    /// Whether the folder goes when this value does.
    private let isTemporary: Bool

    var database: String { folder + "/afterlink.db" }

    /// Makes a new one in an empty folder.
    init(making folder: String, with binary: ServerBinary) throws {
        self.folder = folder
        isTemporary = true
        let output = try ChildProcess.output(
            binary.path,
            ["init", "--database", folder + "/afterlink.db", "--json"]
        )
        try output.write(toFile: folder + "/keys.json", atomically: true, encoding: .utf8)
        keys = try Self.keys(in: folder)
    }

    /// Opens one that is kept.
    init(in folder: String) throws {
        self.folder = folder
        isTemporary = false
        keys = try Self.keys(in: folder)
    }

    /// Copies another into an empty folder, down to the disk: writing it back must not fall into a measurement.
    init(copying other: Installation, to folder: String) throws {
        self.folder = folder
        isTemporary = true
        _ = try ChildProcess.output("cp", ["-a", "--reflink=auto", other.folder + "/.", folder])
        _ = try ChildProcess.output("sync", [folder + "/afterlink.db"])
        keys = other.keys
    }

    deinit {
        if isTemporary { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Changes how its app behaves, by the options of `afterlink apps set`.
    func setApp(_ options: [String], with binary: ServerBinary) throws {
        _ = try ChildProcess.output(binary.path, ["apps", "set", "--database", database] + options)
    }

    /// Makes a link of its app.
    func makeLink(_ slug: String, to destination: String, with binary: ServerBinary) throws {
        _ = try ChildProcess.output(
            binary.path,
            ["links", "create", slug, "--destination", destination, "--database", database]
        )
    }

    /// The key that fingerprints are hashed with.
    func serverKey() throws -> ServerKey {
        let path = database + ".key"
        let text = try String(contentsOfFile: path, encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard let key = ServerKey(bytes: Self.bytes(text)) else {
            throw BenchmarkError("\(path) holds no server key.")
        }
        return key
    }

    /// The keys that addresses are hashed with, which from now on begin so many days before today.
    func addressKeys(fromDaysBefore days: Int64, now: Int64) throws -> AddressKeys {
        let path = database + ".address-key"
        let words = try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        let moment = Timestamp(milliseconds: now)
        let day = AddressKeys.day(of: moment) - days
        guard words.count == 2, let link = AddressKeys.Seed(day: day, bytes: Self.bytes(words[1])),
            let keys = AddressKeys([link], readyUntil: moment)
        else { throw BenchmarkError("\(path) holds no address keys of a new database.") }
        let date = Timestamp(milliseconds: day * AddressKeys.period).iso8601.prefix { $0 != "T" }
        // Not atomically: the file stays its owner's alone.
        try "\(date) \(words[1])\n".write(toFile: path, atomically: false, encoding: .utf8)
        return keys
    }

    private static func bytes(_ text: some StringProtocol) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func keys(in folder: String) throws -> Keys {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/keys.json"))
        return try JSONDecoder().decode(Printed.self, from: bytes).keys
    }
}
