/// Where a store says what an operator should know.
public struct StoreLog: Sendable {
    public enum Level: String, Sendable {
        case information
        case warning
        case error
    }

    /// Called from any thread, with one line without a line break.
    public let write: @Sendable (Level, String) -> Void

    public init(write: @escaping @Sendable (Level, String) -> Void) {
        self.write = write
    }

    public static let none = StoreLog { _, _ in }
}
