internal import Attribution
internal import SQLite

/// An app with its live or its test traffic, as the database numbers it.
struct Scope: Hashable, Sendable {
    let number: Int64

    init(number: Int64) {
        self.number = number
    }

    init(app: Int64, isTest: Bool) {
        number = app * 2 + (isTest ? 1 : 0)
    }

    var isTest: Bool { number & 1 == 1 }
}

/// The apps' numbers in the database.
///
/// Apps are never deleted and never change their number.
struct AppNumbers: Sendable {
    private var numbers: [AppID: Int64] = [:]
    /// The one that was looked up last: where there is one app, it is asked for on every request.
    private var last: (app: AppID, number: Int64)?

    /// Without a look into the database.
    func known(_ app: AppID, isTest: Bool) -> Scope? {
        if let last, last.app == app { return Scope(app: last.number, isTest: isTest) }
        return numbers[app].map { Scope(app: $0, isTest: isTest) }
    }

    /// Nil for an app that does not exist.
    mutating func scope(of app: AppID, isTest: Bool, on connection: SQLiteConnection) throws(SQLiteError)
        -> Scope?
    {
        if let number = numbers[app] { return Scope(app: number, isTest: isTest) }
        let number = try connection.statement(Self.find).first(app.high, app.low) { $0.integer(0) }
        guard let number else { return nil }
        numbers[app] = number
        last = (app, number)
        return Scope(app: number, isTest: isTest)
    }

    static let find: StaticString = "SELECT number FROM apps WHERE id_high = ?1 AND id_low = ?2"
}
