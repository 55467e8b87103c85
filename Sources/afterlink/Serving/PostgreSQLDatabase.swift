#if PostgreSQL
internal import Attribution
internal import PostgreSQLStorage
internal import Storage

/// A database on a PostgreSQL server, which several servers may share.
struct PostgreSQLDatabase: Database {
    let configuration: Configuration

    static var library: String { "libpq \(PostgreSQLStore.libraryVersion)" }

    func open(for purpose: DatabasePurpose) throws(StoreError) -> OpenStore {
        let store = try PostgreSQLStore.open(settings(purpose))
        return OpenStore(
            makeSession: { store.makeSession(port: $0) },
            health: { store.health },
            keys: store.keys,
            isClockSettled: { store.isClockSettled },
            stop: { store.stop(within: $0) },
            publish: { type, app, data throws(StoreError) in try store.publish(type, of: app, data: data) },
            keyring: store.keyring
        )
    }

    func keyring() throws(StoreError) -> (any KeyringRows)? { PostgreSQLKeyring(try settings(.reading)) }

    func migrationPlan() throws(StoreError) -> MigrationPlan {
        try PostgreSQLStore.migrationPlan(settings(.command))
    }

    /// Returns nil, because other servers may use the database at any time.
    func holder() -> Int32? { nil }

    func requireHeader(of path: String) throws(StoreError) { throw Self.isNoFile }
    func isOwn(_ path: String) -> Bool { false }
    func survey() throws(StoreError) -> DatabaseReport { try PostgreSQLSurvey.report(settings(.reading)) }

    func verify(_ keys: [ServerKey]) throws(StoreError) -> VerificationReport {
        try PostgreSQLVerification.run(settings(.reading), serverKeys: keys)
    }

    func history(of app: AppID, isTest: Bool, remaking: FingerprintReconstruction) throws(StoreError)
        -> any TrafficHistory
    { try PostgreSQLHistory.open(settings(.reading), of: app, isTest: isTest, remaking: remaking) }

    func backUp(
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy { throw Self.isNoFile }

    func restore(
        _ backup: String,
        movingAside suffix: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy { throw Self.isNoFile }

    func fill(from source: any MoveSource, note: @escaping (String) -> Void) throws(StoreError) -> MoveReport
    { try PostgreSQLMove.run(from: source, to: settings(.command), note: note) }

    func finishFilling() throws(StoreError) { try PostgreSQLMove.finish(settings(.command)) }

    /// `CommandDatabase.requireFile` refuses the commands that need a file before they come here.
    private static let isNoFile = StoreError(.unsupported, "the database is on a server, and no file")

    private func settings(_ purpose: DatabasePurpose) throws(StoreError) -> PostgreSQLConfiguration {
        let passwordFile = configuration.databasePasswordFile
        var settings = try PostgreSQLConfiguration(
            url: configuration.database,
            name: configuration.databaseName,
            // The password is read again for each connection, so that a change needs no restart.
            password: { () throws(StoreError) in
                let password: String?
                do throws(SystemError) {
                    password = try passwordFile.map { path throws(SystemError) in
                        try SecretFile(path: path).read().text.trimmed
                    }
                } catch { throw StoreError(.unreachable, "--database-password-file: \(error.text)") }
                // libpq would end the password at a zero byte, and its error would contain what follows.
                guard password?.utf8.contains(0) != true else {
                    throw StoreError(
                        .unreachable,
                        "the file of --database-password-file contains a zero byte"
                    )
                }
                return password
            },
            store: StoreConfiguration(configuration, for: purpose)
        )
        settings.programVersion = ProgramVersion.text
        return settings
    }
}
#endif
