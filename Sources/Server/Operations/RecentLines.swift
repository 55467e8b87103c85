internal import Synchronization

/// The last lines of the log, which the dashboard shows.
///
/// The log's thread appends what it writes. Lines are separated only when they are read, because a busy server writes
/// many more than are ever shown.
final class RecentLines: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        /// Whether ``bytes`` may begin within a line.
        var isCut = false
    }

    private let state = Mutex(State())

    static let maximumLines = 200
    private static let maximumBytes = 65_536

    /// Appends whole lines.
    func append(_ lines: [UInt8]) {
        state.withLock { state in
            if lines.count > Self.maximumBytes { (state.bytes, state.isCut) = ([], true) }
            // A slice, because the `suffix` of a sequence would copy byte by byte.
            state.bytes += lines[max(0, lines.count - Self.maximumBytes)...]
            // The oldest bytes are removed seldom, and then many at once.
            guard state.bytes.count > 2 * Self.maximumBytes else { return }
            state.bytes.removeFirst(state.bytes.count - Self.maximumBytes)
            state.isCut = true
        }
    }

    /// Searches the last ``maximumLines`` lines, and returns those that contain a text, the oldest first.
    ///
    /// An empty text returns all of them.
    func lines(containing text: String) -> [String] {
        let state = state.withLock { $0 }
        let lines = state.bytes.split(separator: UInt8(ascii: "\n")).dropFirst(state.isCut ? 1 : 0)
            .suffix(Self.maximumLines).map { String(decoding: $0, as: UTF8.self) }
        return text.isEmpty ? lines : lines.filter { $0.contains(text) }
    }
}
