internal import Attribution
internal import Storage

/// Key files for a database that several machines share: every server has the same two files.
///
/// The first start creates them. Server keys cannot change while servers run, because no server could know
/// when all of them have the new file.
struct SharedKeyFiles: KeySource {
    private let files: KeyFiles
    private let keyring: any KeyringRows

    init(_ files: KeyFiles, _ keyring: any KeyringRows) { (self.files, self.keyring) = (files, keyring) }

    var serverPlace: String { files.serverPlace }
    var isShared: Bool { true }
    var destroysServerKeys: Bool { false }

    func load(
        databaseIsNew: Bool,
        at now: Timestamp,
        _ recognize: (ServerKeyList) throws -> ServerKeyRecognition
    ) throws -> StartKeys {
        files.deleteDrafts(at: now)
        try requireEmptyKeyring()
        let others = try keyring.servers().filter { !$0.isThisServer }
        let creates =
            databaseIsNew && !TextFile.exists(files.server.path) && others.allSatisfy { $0.keys == nil }
        if !creates { try requireFiles(creatingAddresses: databaseIsNew) }
        let list = try files.server.open(databaseIsNew: creates)
        for other in others { try requireSameServerKeys(list, as: other, at: now) }
        guard case .own(let missing) = try recognize(list) else {
            guard creates else { throw foreign }
            // Another server has started first. Without this file, the next start reports what is missing.
            TextFile.delete(files.server.path)
            throw Self.missing(files.server.path, copyAdvice)
        }
        let addresses = try files.addresses.open(at: now)
        for other in others where other.keys?.fits(addresses) == false {
            throw CommandFailure.configuration(
                "Server \(other.number) of the database has other address keys than \(files.addresses.path)."
            ).advising(copyAdvice)
        }
        return StartKeys(list: list, addresses: addresses, missing: missing)
    }

    /// Requires that the servers of the database have key files, and no keyring.
    func requireEmptyKeyring() throws {
        guard try !keyring.rows().isEmpty else { return }
        throw CommandFailure.configuration("The keys of this database are in the database itself, encrypted.")
            .advising("Give --secret-file the secret that the other servers use.")
    }

    private func requireFiles(creatingAddresses: Bool) throws {
        try files.server.requireReach()
        for path in [files.server.path, files.addresses.path] where !TextFile.exists(path) {
            if path == files.addresses.path, creatingAddresses { continue }
            throw Self.missing(path, copyAdvice)
        }
    }

    private static func missing(_ path: String, _ advice: String) -> CommandFailure {
        CommandFailure.configuration(
            "The keys \(path) are missing: every server of a database needs the same ones."
        )
        .advising(advice)
    }

    private var copyAdvice: String {
        "Copy \(files.server.path) and \(files.addresses.path) from the server that started first, with mode 0600; or"
            + " start every server with --secret-file."
    }

    /// Requires that this server and the other one find the clicks that either of them stores.
    private func requireSameServerKeys(_ list: ServerKeyList, as other: KeyHolder, at now: Timestamp) throws {
        guard let held = other.keys, let own = list.keys(at: now) else { return }
        if let current = held.server.first, !own.all.contains(where: { $0.checkValue.index == current }) {
            throw CommandFailure.configuration(
                "Server \(other.number) of the database stores clicks under a key that \(files.server.path) lacks."
            ).advising(copyAdvice)
        }
        if !held.server.contains(own.current.checkValue.index) {
            throw CommandFailure.configuration(
                "Server \(other.number) of the database lacks the first key of \(files.server.path), so it would not find"
                    + " the clicks of this server."
            ).advising(
                "Append the new key below the current one in the file of every server, and restart each; then put it"
                    + " first in each file, and restart each. With --secret-file, a rotation needs no restart."
            )
        }
    }

    func serverKeys() throws -> ServerKeyList { try files.serverKeys() }

    func addressKeys(at now: Timestamp) throws -> AddressKeys {
        try files.server.requireReach()
        guard TextFile.exists(files.addresses.path) else {
            throw Self.missing(files.addresses.path, copyAdvice)
        }
        return try files.addressKeys(at: now)
    }

    func observe() throws -> (stamp: [[Int]], reported: HeldKeys?) {
        (files.stamps, try keyring.servers().first(where: \.isThisServer)?.keys)
    }

    func report(_ keys: HeldKeys) throws { try keyring.report(keys) }

    func refusal(of list: ServerKeyList, after former: ServerKeyList) -> CommandFailure? {
        guard list.entries != former.entries else { return nil }
        return CommandFailure.because(
            "\(files.server.path) has changed, which takes effect at the next start only."
        ).advising(Self.rotationAdvice)
    }

    func changeServerKeys(
        erasesFormer: Bool,
        _ body: (ServerKeyList) throws -> ServerKeyList?
    ) throws -> ServerKeyList {
        throw CommandFailure.because(
            "The server keys are in a file of each server, so they cannot be rotated while servers run."
        ).advising(Self.rotationAdvice)
    }

    private static let rotationAdvice =
        "Start every server with --secret-file, which moves the keys into the database; then `afterlink server-key rotate`"
        + " needs no restart."

    func changeAddressKeys(
        at now: Timestamp,
        erasesFormer: Bool,
        _ body: (AddressKeys) -> AddressKeys
    ) throws -> AddressKeys {
        let current = try addressKeys(at: now)
        guard body(current).firstDay >= current.firstDay else {
            throw CommandFailure.because(
                "The keys \(files.addresses.path) begin in the future, because a clock was wrong when they changed."
            ).advising(copyAdvice)
        }
        do {
            return try files.changeAddressKeys(at: now, erasesFormer: erasesFormer, body)
        } catch {
            throw CommandFailure.because(CommandFailure(describing: error).explanation).advising(
                "Put the key files into a folder that the service may change, or use --secret-file. Else the address keys"
                    + " of past days are never destroyed."
            )
        }
    }

    var foreign: CommandFailure {
        CommandFailure.configuration(
            "\(files.server.path) is not the server key of the database: no click could be found."
        )
        .advising(copyAdvice)
    }
}
