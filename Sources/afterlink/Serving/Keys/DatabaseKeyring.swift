internal import Attribution
internal import Crypto
internal import Glibc
internal import Server
internal import Storage

/// The secret of a deployment, which encrypts the keyring in its database; the database never contains it.
struct KeyringSecret: Sendable {
    let path: String
    private let cipher: AES256GCM

    /// Reads a file with 64 hexadecimal digits, which other users can neither read nor change.
    init(path: String) throws {
        self.path = path
        let file = SecretFile(path: path, isShared: true)
        let text = try file.secret("secret", of: "its") { error in
            CommandFailure.configuration("The secret cannot be read: \(error.text).").advising(
                "Give --secret-file a file that the user that Afterlink runs as may read. For a new deployment, create it:"
                    + " \(Self.command(path))"
            )
        }
        guard let bytes = Hexadecimal.bytes(text.trimmed), let cipher = AES256GCM(key: bytes) else {
            throw CommandFailure.configuration(
                "The secret \(path) is damaged: it must hold 64 hexadecimal digits."
            ).advising("Copy it from another server. For a new deployment, create it: \(Self.command(path))")
        }
        self.cipher = cipher
    }

    private static func command(_ path: String) -> String {
        "`(umask 077; openssl rand -hex 32 >\(ShellWord.quoted(path)))`"
    }

    /// Encrypts a text of keys for one row of the keyring.
    func row(_ text: String, _ kind: KeyringRow.Kind, number: Int64, at now: Timestamp) -> KeyringRow {
        let wrapped = cipher.seal(Array(text.utf8), authenticating: Self.context(kind, number))
        return KeyringRow(number: number, kind: kind, wrapped: wrapped, madeAt: now)
    }

    /// Decrypts a row; nil for a row of another secret, with another number or kind, or with any changed byte.
    func text(_ row: KeyringRow) -> String? {
        let bytes = cipher.open(row.wrapped, authenticating: Self.context(row.kind, row.number))
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// What is authenticated with a row, so that no row can take the place of another one.
    private static func context(_ kind: KeyringRow.Kind, _ number: Int64) -> [UInt8] {
        Array("afterlink keyring \(kind.rawValue) \(number)".utf8)
    }
}

/// The keyring in a database that several servers share.
///
/// A row contains all keys of its kind, as the text of a key file. A change inserts a row with the next number, which
/// only one of several processes can do, and then deletes the former row. Servers store clicks under a new server key
/// when every running server has reported that it can use this key.
struct DatabaseKeyring: KeySource {
    private let rows: any KeyringRows
    private let secret: KeyringSecret
    /// The files from which a first start with a secret copies the keys.
    private let files: KeyFiles

    /// Many servers may change the keyring at the same time; each time, one of them succeeds.
    private static let maximumAttempts = 100

    init(_ rows: any KeyringRows, secret: KeyringSecret, _ files: KeyFiles) {
        (self.rows, self.secret, self.files) = (rows, secret, files)
    }

    var serverPlace: String { "the keyring" }
    var isShared: Bool { true }
    var destroysServerKeys: Bool { true }

    func load(
        databaseIsNew: Bool,
        at now: Timestamp,
        _ recognize: (ServerKeyList) throws -> ServerKeyRecognition
    ) throws -> StartKeys {
        var copied: (server: ServerKeyList, addresses: AddressKeys?)?
        if try newest(.server, of: rows.rows()) == nil, !databaseIsNew {
            try files.server.requireReach()
            guard TextFile.exists(files.server.path) else {
                throw CommandFailure.configuration(
                    "The keyring of the database is empty, and there are no keys in \(files.server.path)."
                ).advising(
                    "Copy \(files.server.path) and \(files.addresses.path) from a server that started without"
                        + " --secret-file; this start then moves them into the database."
                )
            }
            let list = try files.serverKeys()
            guard try recognize(list) != .foreign else { throw files.foreign }
            copied = (list, TextFile.exists(files.addresses.path) ? try files.addressKeys(at: now) : nil)
        }
        // Copy the address keys first: if a start is killed between the two copies, the next start copies both again.
        let addresses = try change(.addresses, at: now) { text in
            guard text == nil else { return nil }
            if let copied = copied?.addresses { return AddressKeyFile.text(copied.seeds) }
            return AddressKeyFile.newSeed(from: AddressKeys.day(of: now)).map { AddressKeyFile.text([$0]) }
        }
        let server = try change(.server, at: now) { text in
            guard text == nil else { return nil }
            if let list = copied?.server { return list.text }
            let bytes = SystemRandom.bytes(ServerKey.byteCount)
            return ServerKeyList([ServerKeyList.Entry(bytes: bytes, madeAt: now)]).text
        }
        let list = try self.list(server)
        guard case .own(let missing) = try recognize(list) else { throw foreign }
        var keys = StartKeys(list: list, addresses: try self.addresses(addresses, at: now), missing: missing)
        if copied != nil {
            keys.remarks.append(
                "the keys were copied into the database; delete \(files.server.path) and \(files.addresses.path) when"
                    + " every server has been started with --secret-file"
            )
        }
        return keys
    }

    func serverKeys() throws -> ServerKeyList { try list(newest(.server, of: rows.rows())) }

    func addressKeys(at now: Timestamp) throws -> AddressKeys {
        try addresses(newest(.addresses, of: rows.rows()), at: now)
    }

    func observe() throws -> (stamp: [[Int]], reported: HeldKeys?) {
        let servers = try rows.servers()
        let held = servers.filter { !$0.isThisServer }.map { server in
            [Int(server.number)] + (server.keys?.bytes ?? []).map { Int($0) }
        }
        return (
            try [rows.rows().map { Int($0.number) }.sorted()] + held,
            servers.first(where: \.isThisServer)?.keys
        )
    }

    func report(_ keys: HeldKeys) throws { try rows.report(keys) }

    func changeServerKeys(
        erasesFormer: Bool,
        _ body: (ServerKeyList) throws -> ServerKeyList?
    ) throws -> ServerKeyList {
        let text = try change(.server, at: WallClock.system.now()) { try body(list($0))?.text }
        return try list(text)
    }

    func changeAddressKeys(
        at now: Timestamp,
        erasesFormer: Bool,
        _ body: (AddressKeys) -> AddressKeys
    ) throws -> AddressKeys {
        let text = try change(.addresses, at: now) { text in
            let keys = try addresses(text, at: now)
            let changed = body(keys)
            return changed.seeds == keys.seeds ? nil : AddressKeyFile.text(changed.seeds)
        }
        return try addresses(text, at: now)
    }

    var foreign: CommandFailure {
        CommandFailure.configuration(
            "The keyring lacks the server key that the database's clicks are stored under: no click could be found."
        )
        .advising("Restore the table `keyring` from the backup of the database.")
    }

    /// A backup from before the last rotation would lack the current key.
    var formerKeyAdvice: String {
        "restore the table `keyring` from a backup of the database that is newer than the last rotation"
    }
}

extension DatabaseKeyring {
    /// Returns the newest text of a kind; nil if there is none.
    private func newest(_ kind: KeyringRow.Kind, of all: [KeyringRow]) throws -> String? {
        guard let row = all.filter({ $0.kind == kind }).max(by: { $0.number < $1.number }) else { return nil }
        if let text = secret.text(row) { return text }
        if all.contains(where: { secret.text($0) != nil }) {
            throw CommandFailure.configuration(
                "Row \(row.number) of the table `keyring` was damaged or exchanged."
            )
            .advising("Restore the table from the backup of the database.")
        }
        throw CommandFailure.configuration(
            "The secret \(secret.path) does not open the keyring of the database."
        ).advising("Give --secret-file the secret that the other servers use.")
    }

    /// Replaces the text of a kind in one step; other processes may change the keyring at the same time.
    ///
    /// - Parameters:
    ///   - kind: the keys to change.
    ///   - now: the current time.
    ///   - body: gets the stored text, nil if there is none; returns the new text, or nil to change nothing.
    /// - Returns: the text that is stored now.
    /// - Throws: what `body` throws, and the errors of the database.
    private func change(_ kind: KeyringRow.Kind, at now: Timestamp, _ body: (String?) throws -> String?)
        throws -> String?
    {
        for _ in 0..<Self.maximumAttempts {
            let all = try rows.rows()
            let text = try newest(kind, of: all)
            let changed = try body(text)
            let number = (all.map(\.number).max() ?? 0) + 1
            if let changed {
                guard try rows.insert(secret.row(changed, kind, number: number, at: now)) else { continue }
            }
            // A process that was killed may have left a former row.
            for row in all where isReplaced(row, in: all) || (changed != nil && row.kind == kind) {
                try rows.delete(number: row.number)
            }
            return changed ?? text
        }
        throw CommandFailure.because("Other servers change the keyring at the same time.")
            .advising("Try again in a moment.")
    }

    private func isReplaced(_ row: KeyringRow, in all: [KeyringRow]) -> Bool {
        all.contains { $0.kind == row.kind && $0.number > row.number }
    }

    /// Reads the text of server keys, with the keys that other servers hold.
    private func list(_ text: String?) throws -> ServerKeyList {
        guard var list = text.flatMap({ ServerKeyList($0) }) else { throw damaged }
        let others = try rows.servers().filter { !$0.isThisServer }
        list.holders = KeyHolders(others: others.map { $0.keys?.server ?? [] })
        return list
    }

    private func addresses(_ text: String?, at now: Timestamp) throws -> AddressKeys {
        let seeds = text.map(AddressKeyFile.seeds) ?? []
        guard let keys = AddressKeys(seeds, readyUntil: now) else { throw damaged }
        return keys
    }

    private var damaged: CommandFailure {
        CommandFailure.configuration("The table `keyring` of the database lacks keys, or has damaged ones.")
            .advising("Restore the table from the backup of the database.")
    }
}
