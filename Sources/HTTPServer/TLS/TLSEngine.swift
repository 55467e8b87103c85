internal import COpenSSL

/// What a loop needs for TLS: the server's termination, a wire, and room for plain text.
///
/// Not `Sendable`: it belongs to its loop, and only the loop's thread touches it.
final class TLSEngine {
    /// The field that restricts this host to https for a year (RFC 6797).
    static let strictTransportSecurity = "Strict-Transport-Security: max-age=31536000\r\n"

    /// More than the length of the longest record with its frame (RFC 8446, 5.2).
    static let recordRoom = 32 * 1024
    /// The engine frees the memory of a response beyond this number of bytes.
    private static let mostSpareBytes = 64 * 1024

    private let termination: TLSTermination
    private let wire: TLSWire
    /// The received plain text; its connection copies from it at once.
    private(set) var received: [UInt8]
    private var answer: [UInt8] = []
    private var date = DateField(followedBy: strictTransportSecurity)

    /// Creates an engine with room for reads of `readLength` bytes; `nil` when memory has run out.
    init?(_ termination: TLSTermination, readLength: Int) {
        guard let wire = TLSWire() else { return nil }
        self.termination = termination
        self.wire = wire
        received = [UInt8](repeating: 0, count: readLength + Self.recordRoom)
    }

    /// Returns the server's end of a new connection; `nil` when memory has run out.
    func accept() -> TLSSession? { termination.context.accept(over: wire) }

    /// Decrypts received bytes of a connection.
    ///
    /// - Returns: how many bytes of plain text `received` contains until the next call.
    func receive(_ bytes: [UInt8], count: Int, on session: TLSSession, output: inout [UInt8]) -> Int {
        session.receive(bytes, count: count, into: &received, output: &output)
    }

    /// Appends an encrypted response to the bytes to be sent; returns `false` when its connection cannot send any
    /// more.
    ///
    /// It encrypts when it writes, so that the connection counts the bytes of the socket: the end of a response is
    /// the end of its last record.
    func write(
        _ response: Response,
        _ context: ResponseWriter.Context,
        on session: TLSSession,
        output: inout [UInt8]
    ) -> Bool {
        answer.removeAll(keepingCapacity: answer.capacity <= Self.mostSpareBytes)
        ResponseWriter.write(response, to: &answer, date: date.current(), context)
        return session.send(answer, output: &output)
    }
}

/// The memory between OpenSSL and a loop's sockets; one serves all connections of its loop.
///
/// OpenSSL reads the bytes that the loop has received and writes the bytes that the loop will send. So it makes no
/// system call, raises no signal, and keeps no buffer for an idle connection. Only the loop's thread touches the
/// wire. Safe: the memory belongs to this object and lives as long as it does.
@safe final class TLSWire {
    let pointer: UnsafeMutablePointer<tls_wire>

    /// The operations that OpenSSL calls, created once and never freed; `nil` only when memory has run out.
    // It is written once, before any other thread can see it, and only read from then on.
    nonisolated(unsafe) static let method: OpaquePointer? = unsafe tls_wire_method()

    /// - Returns: `nil` when memory has run out.
    init?() {
        // A wire of zeroes is empty.
        guard let memory = unsafe calloc(1, MemoryLayout<tls_wire>.size) else { return nil }
        unsafe pointer = memory.bindMemory(to: tls_wire.self, capacity: 1)
    }

    deinit {
        // Sessions keep the wire alive, so that none of them is left.
        unsafe tls_wire_free(pointer)
    }

    /// Lets OpenSSL read received bytes during a closure.
    func lend<Result>(_ bytes: [UInt8], count: Int, during body: () -> Result) -> Result {
        // OpenSSL reads within the array's memory, and the loan ends with the closure.
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

    /// Whether OpenSSL has read all bytes that it was lent.
    var isEmpty: Bool { unsafe pointer.pointee.input_count == 0 }

    /// Moves the bytes that OpenSSL has written to the end of an array.
    func collect(into output: inout [UInt8]) {
        let count = unsafe pointer.pointee.output_count
        guard count > 0 else { return }
        // OpenSSL wrote `count` bytes there; append copies them.
        unsafe output.append(contentsOf: UnsafeBufferPointer(start: pointer.pointee.output, count: count))
        unsafe pointer.pointee.output_count = 0
    }
}
