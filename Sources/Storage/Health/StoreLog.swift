/// The log of a store, for operators.
public struct StoreLog: Sendable {
    public enum Level: String, Sendable {
        case information
        case warning
        case error
    }

    /// Writes one line, whose text has no line break; any thread may call it.
    public let write: @Sendable (Level, String) -> Void

    public init(write: @escaping @Sendable (Level, String) -> Void) { self.write = write }

    public static let none = StoreLog { _, _ in }
}
