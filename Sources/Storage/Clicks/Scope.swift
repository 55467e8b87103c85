public import Attribution

/// An app with its live or its test traffic, as the database numbers it.
public struct Scope: Hashable, Sendable {
    public let number: Int64

    public init(number: Int64) {
        self.number = number
    }

    public init(app: Int64, isTest: Bool) {
        number = app * 2 + (isTest ? 1 : 0)
    }

    public var isTest: Bool { number & 1 == 1 }
}

/// The apps' numbers in the database, as far as they were asked for.
///
/// Apps are never deleted and never change their number.
public struct AppNumbers: Sendable {
    private var numbers: [AppID: Int64] = [:]
    /// The one that was looked up last: where there is one app, it is asked for on every request.
    private var last: (app: AppID, number: Int64)?

    public init() {}

    /// The scope of an app that was added before; nil for any other.
    public func known(_ app: AppID, isTest: Bool) -> Scope? {
        if let last, last.app == app { return Scope(app: last.number, isTest: isTest) }
        return numbers[app].map { Scope(app: $0, isTest: isTest) }
    }

    /// The scope of an app, whose number is asked for once; nil for one that does not exist.
    @inlinable
    public mutating func scope<Failure: Error>(
        of app: AppID,
        isTest: Bool,
        find: (AppID) throws(Failure) -> Int64?
    ) throws(Failure) -> Scope? {
        if let scope = known(app, isTest: isTest) { return scope }
        guard let number = try find(app) else { return nil }
        add(app, number: number)
        return Scope(app: number, isTest: isTest)
    }

    @usableFromInline
    mutating func add(_ app: AppID, number: Int64) {
        numbers[app] = number
        last = (app, number)
    }
}
