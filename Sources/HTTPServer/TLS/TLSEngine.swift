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
