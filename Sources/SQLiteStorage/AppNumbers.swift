internal import Attribution
internal import SQLite
internal import Storage

extension AppNumbers {
    /// Returns an app's scope, or nil for an app that does not exist.
    mutating func scope(of app: AppID, isTest: Bool, on connection: SQLiteConnection) throws(SQLiteError)
        -> Scope?
    {
        if let scope = known(app, isTest: isTest) { return scope }
        let number = try connection.statement(Self.find).first(app.high, app.low) { $0.integer(0) }
        guard let number else { return nil }
        add(app, number: number)
        return Scope(app: number, isTest: isTest)
    }

    static let find: SQL = "SELECT number FROM apps WHERE id_high = ?1 AND id_low = ?2"
}
