/// A value that most requests never need, computed when it is first read.
///
/// Inlinable, because every check creates two and passes them from module to module.
public struct Deferred<Value: Sendable>: Sendable {
    @usableFromInline
    enum Form: Sendable {
        /// Indirect, because a value that contains one is copied more often than it is computed.
        indirect case made(Value)
        case awaited(@Sendable () -> Value)
    }

    @usableFromInline
    var form: Form

    @inlinable
    public init(_ value: Value) {
        form = .made(value)
    }

    /// - Parameter make: returns the same value whenever it is called.
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

    /// Computes the value now, so that no later reader computes it again.
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
