internal import COpenSSL

/// The TLS of one loop: the server's certificate and keys, a ``TLSWire``, and buffers for plain text.
///
/// It is not `Sendable`, because it belongs to its loop, and only the loop's thread touches it.
final class TLSEngine {
    /// The field line that makes browsers use only https for this host, for a year (RFC 6797).
    static let strictTransportSecurity = "Strict-Transport-Security: max-age=31536000\r\n"

    /// A buffer length, in bytes, that exceeds the longest TLS record with its header (RFC 8446 §5.2).
    static let recordRoom = 32 * 1024
    /// If the capacity of `plain` exceeds this many bytes, the engine frees that buffer before the next response.
    private static let maximumSpareByteCount = 64 * 1024

    private let termination: TLSTermination
    private let wire: TLSWire
    /// The buffer for received plain text, which the connection copies at once.
    var received: [UInt8]
    private var plain: [UInt8] = []
    private var date = DateField(followedBy: strictTransportSecurity)

    /// Creates an engine for reads of at most `readLength` bytes; `nil` if memory has run out.
    init?(_ termination: TLSTermination, readLength: Int) {
        guard let wire = TLSWire() else { return nil }
        self.termination = termination
        self.wire = wire
        received = [UInt8](repeating: 0, count: readLength + Self.recordRoom)
    }

    /// Returns the TLS session of a new connection; `nil` if memory has run out.
    func accept() -> TLSSession? { termination.context.accept(over: wire) }

    /// Encrypts a response and appends it to the bytes to send.
    ///
    /// The connection counts encrypted bytes, as the kernel does when it reports acknowledged bytes. So the end of a
    /// response is the end of its last TLS record.
    ///
    /// - Returns: `false` if the connection can send no more.
    func write(
        _ response: Response,
        _ context: ResponseWriter.Context,
        on session: TLSSession,
        output: inout [UInt8]
    ) -> Bool {
        plain.removeAll(keepingCapacity: plain.capacity <= Self.maximumSpareByteCount)
        ResponseWriter.write(response, to: &plain, date: date.current(), context)
        return session.send(plain, output: &output)
    }
}

/// The memory through which OpenSSL gets and returns encrypted bytes; all connections of a loop share it.
///
/// OpenSSL reads the bytes that the loop has received, and writes the bytes that the loop will send. So OpenSSL makes
/// no system call, raises no signal, and keeps no buffer for an idle connection. Only the loop's thread touches the
/// wire. The class is `@safe` because the memory belongs to this object, which frees it in `deinit`.
@safe final class TLSWire {
    let pointer: UnsafeMutablePointer<tls_wire>

    /// The operations that OpenSSL calls, created once and never freed; `nil` only if memory has run out.
    // It is written once, before any other thread can see it, and afterwards only read.
    nonisolated(unsafe) static let method: OpaquePointer? = unsafe tls_wire_method()

    /// Creates an empty wire; `nil` if memory has run out.
    init?() {
        // A wire of zeroes is empty.
        guard let memory = unsafe calloc(1, MemoryLayout<tls_wire>.size) else { return nil }
        unsafe pointer = memory.bindMemory(to: tls_wire.self, capacity: 1)
    }

    deinit {
        // Each session keeps the wire alive, so no session exists now.
        unsafe tls_wire_free(pointer)
    }

    /// Lets OpenSSL read the first `count` bytes of an array during a closure.
    func lend<Result>(_ bytes: [UInt8], count: Int, during body: () -> Result) -> Result {
        // OpenSSL reads within the array's memory, and only during the closure.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe pointer.pointee.input = buffer.baseAddress
            unsafe pointer.pointee.input_count = min(count, buffer.count)
            defer {
                unsafe pointer.pointee.input = nil
                unsafe pointer.pointee.input_count = 0
            }
            return body()
        }
    }

    /// Whether OpenSSL has read all bytes of the current `lend`.
    var isEmpty: Bool { unsafe pointer.pointee.input_count == 0 }

    /// Moves the bytes that OpenSSL has written from the wire to the end of `output`.
    func collect(into output: inout [UInt8]) {
        let count = unsafe pointer.pointee.output_count
        guard count > 0 else { return }
        // OpenSSL has written `count` bytes, and append copies them.
        unsafe output.append(contentsOf: UnsafeBufferPointer(start: pointer.pointee.output, count: count))
        unsafe pointer.pointee.output_count = 0
    }
}
