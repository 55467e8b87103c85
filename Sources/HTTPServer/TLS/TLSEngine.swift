internal import COpenSSL

/// What a loop needs for TLS: the server's termination, a wire, and room for plain text.
///
/// Not `Sendable`: it belongs to its loop and is touched on the loop's thread only.
final class TLSEngine {
    /// Says for a year that this host is to be called by https only (RFC 6797).
    static let strictTransportSecurity = "Strict-Transport-Security: max-age=31536000\r\n"

    /// The length of the longest record, with its frame (RFC 8446, 5.2), and more.
    static let recordRoom = 32 * 1024
    /// Above so many bytes, memory for an answer is given back.
    private static let mostSpareBytes = 64 * 1024

    private let termination: TLSTermination
    private let wire: TLSWire
    /// Plain text that was received; its connection copies from it at once.
    private(set) var received: [UInt8]
    private var answer: [UInt8] = []
    private var date = DateField(followedBy: strictTransportSecurity)

    /// Room for what one read of `readLength` bytes may bring; `nil` when memory has run out.
    init?(_ termination: TLSTermination, readLength: Int) {
        guard let wire = TLSWire() else { return nil }
        self.termination = termination
        self.wire = wire
        received = [UInt8](repeating: 0, count: readLength + Self.recordRoom)
    }

    /// The server's end of a new connection; `nil` when memory has run out.
    func accept() -> TLSSession? {
        termination.context.accept(over: wire)
    }

    /// Takes received bytes of a connection.
    ///
    /// - Returns: how many bytes of plain text stand in `received` until the next call.
    func receive(_ bytes: [UInt8], count: Int, on session: TLSSession, output: inout [UInt8]) -> Int {
        session.receive(bytes, count: count, into: &received, output: &output)
    }

    /// Appends an answer, sealed, to the bytes to be sent; `false` when its connection cannot send any more.
    ///
    /// It is sealed when it is written, so that the connection's count of bytes is the socket's: where an
    /// answer ends there, its last record ends.
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
/// OpenSSL reads what the loop has received and writes what the loop is to send: it makes no system call of its
/// own, raises no signal, and an idle connection keeps no buffer. Touched on the loop's thread only. Safe: the
/// memory is this object's own and lives as long as it does.
@safe final class TLSWire {
    let pointer: UnsafeMutablePointer<tls_wire>

    /// The operations that OpenSSL calls; made once and never freed. `nil` only when memory has run out.
    // It is written once, before anybody can see it, and only read from then on.
    nonisolated(unsafe) static let method: OpaquePointer? = unsafe tls_wire_method()

    /// - Returns: `nil` when memory has run out.
    init?() {
        // Zeroes are an empty wire.
        guard let memory = unsafe calloc(1, MemoryLayout<tls_wire>.size) else { return nil }
        unsafe pointer = memory.bindMemory(to: tls_wire.self, capacity: 1)
    }

    deinit {
        // Sessions keep the wire alive: none of them is left.
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

    /// Whether OpenSSL has read everything that it was lent.
    var isEmpty: Bool {
        unsafe pointer.pointee.input_count == 0
    }

    /// Moves what OpenSSL has written to the end of an array.
    func collect(into output: inout [UInt8]) {
        let count = unsafe pointer.pointee.output_count
        guard count > 0 else { return }
        // So many bytes were written there; append copies them.
        unsafe output.append(contentsOf: UnsafeBufferPointer(start: pointer.pointee.output, count: count))
        unsafe pointer.pointee.output_count = 0
    }
}
