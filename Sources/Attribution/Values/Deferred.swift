/// A value that most requests never need: it is made when it is first asked for.
///
/// Inlinable, because every check makes two and hands them from module to module.
public struct Deferred<Value: Sendable>: Sendable {
    @usableFromInline
    enum Form: Sendable {
        /// Apart from the rest: what holds one is copied more often than it is made.
        indirect case made(Value)
        case awaited(@Sendable () -> Value)
    }

    @usableFromInline
    var form: Form

    @inlinable
    public init(_ value: Value) {
        form = .made(value)
    }

    /// - Parameter make: gives the same value whenever it is called.
    @inlinable
    public init(madeBy make: @escaping @Sendable () -> Value) {
        form = .awaited(make)
    }

    @inlinable
    public var value: Value {
        switch form {
        case .made(let value): value
        case .awaited(let make): make()
        }
    }

    /// Makes the value now, so that nobody after this makes it again.
    @inlinable
    public mutating func settle() {
        form = .made(value)
    }
}

extension Deferred: Equatable where Value: Equatable {
    public static func == (left: Deferred, right: Deferred) -> Bool {
        left.value == right.value
    }
}
