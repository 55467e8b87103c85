public import Foundation
public import SQLite

/// A folder with an Afterlink database, or for one, and the keys of the database.
public final class Installation: Sendable {
    public struct Keys: Codable, Sendable {
        public let app: String
        public let server: String
        public let test: String
        public let admin: String

        public init(app: String, server: String, test: String, admin: String) {
            (self.app, self.server, self.test, self.admin) = (app, server, test, admin)
        }
    }

    private struct Printed: Decodable, Sendable {
        struct App: Decodable, Sendable { let id: String }
        let app: App
        let keys: Keys
    }

    public let folder: URL
    /// The program that creates and serves the database.
    public let binary: URL
    public let appID: String
    public let keys: Keys
    private let isTemporary: Bool
    /// The URL of a PostgreSQL database that the servers use instead of a file; nil for a file.
    private let databaseURL: String?

    /// The SQLite file of the database; no such file exists if the database is in PostgreSQL.
    public var database: URL { folder.appending(path: "afterlink.db") }
    /// Further settings of every command on the database.
    public let settings: [String]

    /// The value of the option `--database`.
    var databaseArgument: String { databaseURL ?? database.path }

    /// The binary from the same build as this program.
    public static let binary: URL = {
        // A build puts all its products into one folder.
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return program.deletingLastPathComponent().appending(path: "afterlink")
    }()

    /// Creates a folder, which is deleted with this value, and a database.
    ///
    /// - Parameters:
    ///   - folder: the folder.
    ///   - binary: the program that creates and serves the database.
    ///   - databaseURL: the URL of the database; nil for a file in the folder.
    ///   - settings: further settings of every command on the database.
    ///   - isCopy: whether the database may be a copy of a template, whose keys other tests have too. Only a
    ///     file of this build's binary without further settings can be such a copy.
    /// - Throws: when the program fails, with its errors.
    public init(
        in folder: URL = TemporaryFolder.fresh("afterlink"),
        binary: URL = Installation.binary,
        databaseURL: String? = nil,
        settings: [String] = [],
        isCopy: Bool = true
    ) throws {
        (self.folder, self.binary, isTemporary) = (folder, binary, true)
        (self.databaseURL, self.settings) = (databaseURL, settings)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let printed: Printed
        if isCopy, binary == Self.binary, databaseURL == nil, settings.isEmpty {
            let template = try Self.template.get()
            for file in template.files { try file.write(in: folder) }
            printed = template.printed
        } else {
            let database = databaseURL ?? folder.appending(path: "afterlink.db").path
            printed = try Self.create(database, by: binary, settings)
        }
        (appID, keys) = (printed.app.id, printed.keys)
    }

    /// The files of a new database.
    private struct Template: Sendable {
        let printed: Printed
        let files: [CopiedFile]
    }

    /// A database that most tests get copies of: a copy needs a tenth of the time that the program needs.
    private static let template = Result {
        let folder = try TemporaryFolder()
        let printed = try create(folder.file("afterlink.db"), by: binary, [])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try Template(printed: printed, files: names.map { try CopiedFile($0, in: folder) })
    }

    private static func create(_ database: String, by binary: URL, _ settings: [String]) throws -> Printed {
        let output = try ChildProcess.run(binary, ["init", "--database", database] + settings + ["--json"])
        guard output.status == 0 else {
            throw ChildProcess.Failure(description: "init failed: \(output.errors)")
        }
        return try JSONDecoder().decode(Printed.self, from: output.standardOutput)
    }

    /// Creates a folder that may have no database yet; ``appID`` stays empty.
    ///
    /// - Parameters:
    ///   - folder: the folder; by default a new one.
    ///   - binary: the program that serves the database.
    ///   - keys: the keys of the database, or of the database that the server creates at its first start in the folder.
    ///   - isTemporary: whether the folder is deleted when this value is released.
    ///   - databaseURL: the URL of the database; nil for a file in the folder.
    ///   - settings: further settings of every command on the database.
    /// - Throws: when the folder cannot be created.
    public init(
        in folder: URL = TemporaryFolder.fresh("afterlink"),
        binary: URL = Installation.binary,
        keys: Keys,
        isTemporary: Bool = true,
        databaseURL: String? = nil,
        settings: [String] = []
    ) throws {
        (self.folder, self.binary, self.isTemporary) = (folder, binary, isTemporary)
        (self.databaseURL, self.settings) = (databaseURL, settings)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        appID = ""
        self.keys = keys
    }

    deinit { if isTemporary { try? FileManager.default.removeItem(at: folder) } }

    /// The variables that make a server use these keys at its first start instead of random keys.
    public var initialKeys: [String: String] {
        ["AFTERLINK_INITIAL_APP_KEY": keys.app, "AFTERLINK_INITIAL_ADMIN_KEY": keys.admin]
    }

    /// Runs a command of the binary, or of another program, to its end.
    public static func run(
        _ arguments: [String],
        of program: URL = binary,
        environment: [String: String] = [:],
        in folder: String? = nil
    ) throws -> ChildProcess.Output {
        try ChildProcess.run(program, arguments, environment: environment, in: folder)
    }

    /// Runs a command on this installation's database.
    public func run(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess.Output
    {
        let named = arguments + ["--database", databaseArgument] + settings
        return try ChildProcess.run(binary, named, environment: environment)
    }

    /// Opens the SQLite file, which a server may be using.
    public func open(_ access: SQLiteConnection.Access = .readWrite) throws -> SQLiteConnection {
        try SQLiteConnection(path: database.path, access: access, busyMilliseconds: 10_000)
    }

    /// The text of the server's log.
    public var log: String {
        (try? String(contentsOf: folder.appending(path: "server.log"), encoding: .utf8)) ?? ""
    }
}

/// The content and the permissions of a file.
private struct CopiedFile: Sendable {
    let name: String
    let content: Data
    let permissions: Int

    init(_ name: String, in folder: TemporaryFolder) throws {
        self.name = name
        content = try Data(contentsOf: folder.url.appending(path: name))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
        permissions = attributes[.posixPermissions] as? Int ?? 0o600
    }

    func write(in folder: URL) throws {
        let path = folder.appending(path: name).path
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: permissions]
        guard FileManager.default.createFile(atPath: path, contents: content, attributes: attributes) else {
            throw ChildProcess.Failure(description: "\(path) cannot be written")
        }
    }
}
