internal import Attribution

/// The live or the test traffic of an app, by the app's number in the database.
public struct Scope: Hashable, Sendable {
    public let number: Int64

    public init(number: Int64) { self.number = number }
    public init(app: Int64, isTest: Bool) { number = app * 2 + (isTest ? 1 : 0) }

    public var isTest: Bool { number & 1 == 1 }
}

/// The numbers of apps that have been read from the database.
///
/// Apps are never deleted and never change their number.
struct AppNumbers: Sendable {
    private var numbers: [AppID: Int64] = [:]
    /// The app whose number was read last; with a single app, every request needs it.
    private var last: (app: AppID, number: Int64)?

    /// Returns the scope of an app whose number has been read; nil for any other app.
    func known(_ app: AppID, isTest: Bool) -> Scope? {
        if let last, last.app == app { return Scope(app: last.number, isTest: isTest) }
        return numbers[app].map { Scope(app: $0, isTest: isTest) }
    }

    /// Returns the scope of an app, and reads its number if it is not in memory; nil for an app that does not exist.
    mutating func scope<Failure: Error>(
        of app: AppID,
        isTest: Bool,
        find: (AppID) throws(Failure) -> Int64?
    ) throws(Failure) -> Scope? {
        if let scope = known(app, isTest: isTest) { return scope }
        guard let number = try find(app) else { return nil }
        add(app, number: number)
        return Scope(app: number, isTest: isTest)
    }

    private mutating func add(_ app: AppID, number: Int64) {
        numbers[app] = number
        last = (app, number)
    }
}
