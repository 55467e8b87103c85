internal import Synchronization

/// Something that is made later than what asks for it.
final class SetOnce<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    /// Nil until it is made.
    var value: Value? {
        get { stored.withLock(\.self) }
        set { stored.withLock { $0 = newValue } }
    }

    /// - Throws: when it is not made yet.
    func get() throws -> Value {
        guard let value else { throw NotSet() }
        return value
    }

    /// Something was asked for before it was made: a mistake in the order of the start.
    struct NotSet: Error {}
}
