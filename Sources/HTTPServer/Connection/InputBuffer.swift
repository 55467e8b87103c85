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

    /// Bytes of the current request's head, as many as it has.
    func head(_ length: Int) -> [UInt8] {
        Array(bytes[start...].prefix(length))
    }

    /// Whether anything behind the head has come.
    var bodyHasBegun: Bool {
        bytes.count > headEnd
    }

    /// Whether everything that has come is read.
    var isRead: Bool {
        readStart == bytes.count
    }

    /// The memory that is held.
    var heldByteCount: Int {
        bytes.capacity
    }

    mutating func append(_ more: ArraySlice<UInt8>) {
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

    /// Takes at most so many bytes of the body.
    mutating func takeBody(_ count: Int) -> ArraySlice<UInt8> {
        let end = min(readStart + count, bytes.count)
        defer { readStart = end }
        return bytes[readStart..<end]
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

    /// Forgets body bytes that were read, and gives back memory beyond twice what is kept.
    ///
    /// Done before a wait, which may be long.
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
