/// Why a trace cannot be read, and where.
package struct TraceError: Error, Equatable, Sendable {
    /// Counted from 1.
    package let line: Int
    /// What is wrong with it; holds nothing of its values.
    package let reason: String

    package var message: String { "line \(line): \(reason)" }
}
