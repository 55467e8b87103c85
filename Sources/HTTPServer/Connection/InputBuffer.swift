/// The received bytes that the connection has not consumed: the current request's head and all bytes after it.
///
/// An empty buffer holds no memory.
struct InputBuffer {
    private(set) var bytes: [UInt8] = []
    /// The start of the current request's head.
    private var start = 0
    /// The index at which the parser continues: the start of the head until the head has ended, then a position in the
    /// body.
    private(set) var readStart = 0
    private var headEnd = 0

    var isEmpty: Bool { start == bytes.count }

    /// Returns at most `length` bytes from the start of the current request's head.
    func head(_ length: Int) -> [UInt8] { Array(bytes[start...].prefix(length)) }

    /// Whether any byte after the head has arrived.
    var bodyHasBegun: Bool { bytes.count > headEnd }

    /// Whether the parser has read all received bytes.
    var isRead: Bool { readStart == bytes.count }

    /// The memory of the buffer in bytes.
    var heldByteCount: Int { bytes.capacity }

    mutating func append(_ more: ArraySlice<UInt8>) { bytes.append(contentsOf: more) }

    /// Records the end of the head, after which the body starts.
    mutating func beginBody(after length: Int) {
        headEnd = start + length
        readStart = headEnd
    }

    mutating func consumeBody(_ count: Int) { readStart += count }

    /// Takes at most `count` bytes of the body.
    mutating func takeBody(_ count: Int) -> ArraySlice<UInt8> {
        let end = min(readStart + count, bytes.count)
        defer { readStart = end }
        return bytes[readStart..<end]
    }

    /// Returns the head's bytes, perhaps followed by bytes of the body, and removes the request from the buffer.
    mutating func takeHead(_ length: Int) -> [UInt8] {
        let end = max(readStart, start + length)
        defer { headEnd = 0 }
        if start == 0, end == bytes.count {
            // No bytes follow the request, so return the buffer itself instead of a copy.
            readStart = 0
            return bytes.take()
        }
        let head = Array(bytes[start..<start + length])
        start = end
        readStart = end
        if start == bytes.count { self = InputBuffer() }
        return head
    }

    /// Removes the bytes that were read, except the current head.
    ///
    /// It removes them only if this frees more than half of the buffer's memory plus 256 bytes. The connection calls it
    /// before a wait, which may be long.
    mutating func shrink() {
        let headEnd = max(start, headEnd)
        let keptCount = headEnd - start + bytes.count - readStart
        guard bytes.capacity > 2 * keptCount + Self.tolerableWaste else { return }
        var kept: [UInt8] = []
        kept.reserveCapacity(keptCount)
        kept.append(contentsOf: bytes[start..<headEnd])
        kept.append(contentsOf: bytes[readStart...])
        self.headEnd = headEnd - start
        readStart = headEnd - start
        start = 0
        bytes = kept
    }

    private static let tolerableWaste = 512
}
