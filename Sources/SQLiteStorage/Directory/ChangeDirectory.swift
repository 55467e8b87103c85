internal import Attribution
internal import SQLite
internal import Storage

/// Making and changing apps and keys.
extension SQLiteWriter {
    /// Makes an app and its keys, all of them or nothing: what is refused is undone as a whole.
    func create(_ app: App, with keys: [APIKey]) throws(SQLiteError) -> StoreError? {
        if let refusal = try create(app) { return refusal }
        for key in keys {
            if let refusal = try create(key) { return refusal }
        }
        return nil
    }

    private func create(_ app: App) throws(SQLiteError) -> StoreError? {
        let isDone = try unlessTaken { () throws(SQLiteError) in
            try connection.statement(DirectorySQL.insertApp).run(AppRecord(app))
        }
        guard isDone else { return StoreError(.conflict, "another app has this name") }
        try replaceLists(of: app.id, by: app.settings)
        return nil
    }

    func update(_ app: AppID, to settings: App.Settings) throws(SQLiteError) -> StoreError? {
        guard
            var record = try connection.statement(DirectorySQL.app).first(AppRecord.self, app.high, app.low)
        else {
            return StoreError(.notFound, "this app does not exist")
        }
        record.settings = settings
        let changed = record
        let isDone = try unlessTaken { () throws(SQLiteError) in
            try connection.statement(DirectorySQL.updateApp).run(changed)
        }
        guard isDone else { return StoreError(.conflict, "another app has this name") }
        try replaceLists(of: app, by: settings)
        return nil
    }

    func create(_ key: APIKey) throws(SQLiteError) -> StoreError? {
        var number: Int64?
        if let app = key.app {
            number = try reader.number(of: app)
            guard number != nil else {
                return StoreError(.notFound, "the key's app does not exist")
            }
        }
        let isDone = try unlessTaken { () throws(SQLiteError) in
            try connection.statement(DirectorySQL.insertKey).run(KeyRecord(key, app: number))
        }
        guard isDone else { return StoreError(.conflict, "this key exists already") }
        return nil
    }

    func revoke(_ key: KeyID, at now: Timestamp) throws(SQLiteError) -> StoreError? {
        try connection.statement(DirectorySQL.revokeKey).run(key.high, key.low, now.milliseconds)
        guard connection.changeCount > 0 else {
            return StoreError(.notFound, "this key does not exist")
        }
        return nil
    }

    private func replaceLists(of app: AppID, by settings: App.Settings) throws(SQLiteError) {
        try connection.statement(DirectorySQL.deleteFields).run(app.high, app.low)
        let insert = try connection.statement(DirectorySQL.insertField)
        for list in AppRecord.lists(of: settings) {
            for (position, value) in list.values.enumerated() {
                try insert.run(app.high, app.low, list.name, position, value)
            }
        }
    }

    /// False when a row with such a name, identifier or digest exists: SQLite has then undone the statement.
    private func unlessTaken(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            try body()
            return true
        } catch {
            if error.isUniqueViolation { return false }
            throw error
        }
    }
}

enum DirectorySQL {
    static let app: SQL = "SELECT \(AppRecord.columns) FROM apps WHERE id_high = ?1 AND id_low = ?2"
    static let insertApp = SQL.insert("apps", AppRecord.columns)
    static let updateApp = SQL.update("apps", AppRecord.columns, where: "id_high = ?1 AND id_low = ?2")
    static let deleteFields: SQL = """
        DELETE FROM app_fields WHERE app = (SELECT number FROM apps WHERE id_high = ?1 AND id_low = ?2)
        """
    static let insertField: SQL = """
        INSERT INTO app_fields SELECT number, ?3, ?4, ?5 FROM apps WHERE id_high = ?1 AND id_low = ?2
        """
    static let insertKey = SQL.insert("keys", KeyRecord.columns)
    static let revokeKey: SQL = """
        UPDATE keys SET revoked_at = ifnull(revoked_at, ?3) WHERE id_high = ?1 AND id_low = ?2
        """
}
