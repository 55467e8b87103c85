package import Attribution

/// Reads a trace, a line of JSON for each click and launch, as it comes in pieces.
///
/// The article "Traces" describes the lines. Memory holds one line and a hash for each click's identifier, however long
/// the trace is.
package struct TraceReader {
    private let key: ServerKey
    private let data: DeviceData
    private let robots: RobotAgents
    private var buffer: [UInt8] = []
    /// What stands before this in the buffer has been read.
    private var position = 0
    private var hasEnded = false
    private var line = 0
    private var latest: Timestamp?
    private var names: Set<UInt64> = []

    /// The longest line, in bytes, without its end.
    package static let longestLine = 65_536

    /// - Parameters:
    ///   - key: under which texts are hashed; any will do.
    ///   - data: names, codes, releases and panels.
    ///   - robots: whose clicks are never candidates.
    package init(key: ServerKey, data: DeviceData = .embedded, robots: RobotAgents = .embedded) {
        self.key = key
        self.data = data
        self.robots = robots
    }

    /// Hands in the next piece, which may end anywhere.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.removeFirst(position)
        position = 0
        buffer.append(contentsOf: bytes)
    }

    /// Says that no piece follows: the last line needs no line feed.
    package mutating func end() { hasEnded = true }

    /// The next event; nil when more is needed, or at the end.
    ///
    /// - Throws: for a line that is none of a trace; nothing can be read after it.
    package mutating func next() throws(TraceError) -> RecordedEvent? {
        while let bytes = try nextLine() {
            guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }) else { continue }
            let event: RecordedEvent
            do throws(APIError) {
                event = try TraceLine(bytes, key: key, data: data).event(robots)
            } catch {
                throw TraceError(line: line, reason: error.message)
            }
            try check(event)
            return event
        }
        return nil
    }

    private mutating func nextLine() throws(TraceError) -> [UInt8]? {
        let rest = buffer[position...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? (hasEnded ? buffer.count : nil) else {
            guard rest.count <= Self.longestLine else { throw tooLong }
            return nil
        }
        guard position < buffer.count else { return nil }
        line += 1
        guard end - position <= Self.longestLine else { throw tooLong }
        defer { position = min(end + 1, buffer.count) }
        return Array(buffer[position..<end])
    }

    private var tooLong: TraceError {
        TraceError(line: line + 1, reason: "is longer than \(Self.longestLine) bytes")
    }

    private mutating func check(_ event: RecordedEvent) throws(TraceError) {
        if let latest, event.at < latest {
            throw TraceError(
                line: line,
                reason: "at is earlier than in the event before: sort the trace by it"
            )
        }
        latest = event.at
        guard case .click(let click) = event, let name = click.name else { return }
        guard names.insert(name).inserted else {
            throw TraceError(line: line, reason: "id stands in an earlier click already")
        }
    }
}

/// Why a trace cannot be read, and where.
package struct TraceError: Error, Equatable, Sendable {
    /// Counted from 1.
    package let line: Int
    /// What is wrong with it; holds nothing of its values.
    package let reason: String

    package var message: String { "line \(line): \(reason)" }
}
