internal import Attribution
internal import SQLite
internal import Storage

/// Creates and changes apps and keys.
extension SQLiteWriter {
    /// Creates an app and its keys; after a refusal, the caller must undo the rows created before it.
    func create(_ app: App, with keys: [APIKey]) throws(SQLiteError) -> StoreError? {
        if let refusal = try create(app) { return refusal }
        for key in keys { if let refusal = try create(key) { return refusal } }
        return nil
    }

    private func create(_ app: App) throws(SQLiteError) -> StoreError? {
        try refusing("another app has this name") { () throws(SQLiteError) in
            try connection.statement(Self.insertApp).run(AppRecord(app))
            try replaceLists(of: app.id, by: app.settings)
        }
    }

    private static let insertApp = SQL.insert("apps", AppRecord.columns)

    func update(_ app: AppID, to settings: App.Settings) throws(SQLiteError) -> StoreError? {
        guard var record = try connection.statement(Self.appByID).first(AppRecord.self, app.high, app.low)
        else { return StoreError(.notFound, "this app does not exist") }
        record.settings = settings
        return try refusing("another app has this name") { () throws(SQLiteError) in
            try connection.statement(Self.updateApp).run(record)
            try replaceLists(of: app, by: settings)
        }
    }

    private static let appByID: SQL =
        "SELECT \(AppRecord.columns) FROM apps WHERE id_high = ?1 AND id_low = ?2"
    private static let updateApp =
        SQL.update("apps", AppRecord.columns, where: "id_high = ?1 AND id_low = ?2")

    func create(_ key: APIKey) throws(SQLiteError) -> StoreError? {
        var number: Int64?
        if let app = key.app {
            number = try reader.number(of: app)
            guard number != nil else { return StoreError(.notFound, "the key's app does not exist") }
        }
        return try refusing("this key exists already") { () throws(SQLiteError) in
            try connection.statement(Self.insertKey).run(KeyRecord(key, app: number))
        }
    }

    private static let insertKey = SQL.insert("keys", KeyRecord.columns)

    func revoke(_ key: KeyID, at now: Timestamp) throws(SQLiteError) -> StoreError? {
        try connection.statement(Self.revokeKey).run(key.high, key.low, now.milliseconds)
        return connection.changeCount > 0 ? nil : StoreError(.notFound, "this key does not exist")
    }

    private static let revokeKey: SQL = """
        UPDATE keys SET revoked_at = ifnull(revoked_at, ?3) WHERE id_high = ?1 AND id_low = ?2
        """

    private func replaceLists(of app: AppID, by settings: App.Settings) throws(SQLiteError) {
        try connection.statement(Self.deleteAppFields).run(app.high, app.low)
        let insert = try connection.statement(Self.insertAppField)
        for list in AppRecord.lists(of: settings) {
            for (position, value) in list.values.enumerated() {
                try insert.run(app.high, app.low, list.name, position, value)
            }
        }
    }

    private static let deleteAppFields: SQL = """
        DELETE FROM app_fields WHERE app = (SELECT number FROM apps WHERE id_high = ?1 AND id_low = ?2)
        """
    private static let insertAppField: SQL = """
        INSERT INTO app_fields SELECT number, ?3, ?4, ?5 FROM apps WHERE id_high = ?1 AND id_low = ?2
        """

    /// Runs `body`; returns a refusal if another row has the same name, identifier or digest.
    ///
    /// SQLite undoes only the statement that failed.
    private func refusing(_ reason: String, _ body: () throws(SQLiteError) -> Void) throws(SQLiteError)
        -> StoreError?
    {
        do throws(SQLiteError) {
            try body()
            return nil
        } catch {
            guard error.isUniqueViolation else { throw error }
            return StoreError(.conflict, reason)
        }
    }
}
