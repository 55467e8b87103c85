/// Bytes that were received and not used yet: the head being read, what follows it, later requests.
///
/// Holds no memory while it is empty.
struct InputBuffer {
    private(set) var bytes: [UInt8] = []
    /// Where the current request's head begins.
    private var start = 0
    /// Where the current request is to be read next: at its head's beginning, then in its body.
    private(set) var readStart = 0
    private var headEnd = 0

    init() {}

    var isEmpty: Bool {
        start == bytes.count
    }

    /// Whether anything behind the head has come.
    var bodyHasBegun: Bool {
        bytes.count > headEnd
    }

    mutating func append(_ more: ArraySlice<UInt8>) {
        if readStart > Self.compactionThreshold { compact() }
        bytes.append(contentsOf: more)
    }

    /// The head has ended; what follows it is body.
    mutating func beginBody(after length: Int) {
        headEnd = start + length
        readStart = headEnd
    }

    mutating func consumeBody(_ count: Int) {
        readStart += count
    }

    /// Moves at most so many bytes to the end of a body.
    mutating func moveBody(into body: inout [UInt8], count: Int) {
        let end = min(readStart + count, bytes.count)
        body.append(contentsOf: bytes[readStart..<end])
        readStart = end
    }

    /// Hands out the head's bytes and forgets the request they belong to.
    mutating func takeHead(_ length: Int) -> [UInt8] {
        let end = max(readStart, start + length)
        defer { headEnd = 0 }
        if start == 0, end == bytes.count {
            // Nothing follows: the request takes the buffer itself.
            readStart = 0
            return bytes.take()
        }
        let head = Array(bytes[start..<start + length])
        start = end
        readStart = end
        if start == bytes.count { self = InputBuffer() }
        return head
    }

    private static let compactionThreshold = 16 * 1024

    /// Drops body bytes that were used, so that a long body does not pile up here.
    private mutating func compact() {
        let end = max(headEnd, start)
        guard readStart > end else { return }
        bytes.removeSubrange(end..<readStart)
        readStart = end
        bytes.removeSubrange(0..<start)
        headEnd -= min(headEnd, start)
        readStart -= start
        start = 0
    }
}
