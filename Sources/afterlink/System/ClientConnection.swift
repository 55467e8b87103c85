internal import Glibc
internal import HTTPServer

/// A connection to a server that sends one request and waits for the whole answer.
///
/// For commands, which have nothing else to do meanwhile: it blocks.
struct ClientConnection: ~Copyable {
    private let descriptor: Int32
    private let subject: String

    /// Longest answer that is read.
    private static let limit = 4 << 20

    /// - Parameters:
    ///   - listenAddress: where the server listens; for 0.0.0.0 and :: the loopback address is taken.
    ///   - timeoutSeconds: how long each step may take.
    /// - Throws: if no process listens there.
    init(to listenAddress: ListenAddress, timeoutSeconds: Int = 5) throws(SystemError) {
        subject = "\(listenAddress)"
        let family = listenAddress.address.ipv4 == nil ? AF_INET6 : AF_INET
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError("cannot reach", subject) }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            // The kernel copies the local value.
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
        }
        guard connect(to: listenAddress) == 0 else { throw SystemError("cannot reach", subject) }
    }

    deinit {
        close(descriptor)
    }

    /// Sends the bytes and returns everything that comes until the server closes.
    func exchange(_ request: [UInt8]) throws(SystemError) -> [UInt8] {
        try send(request)
        var answer: [UInt8] = []
        while true {
            let received = try receive()
            guard !received.isEmpty else { return answer }
            answer += received
            try check(answer)
        }
    }

    /// The same over TLS.
    ///
    /// The server's certificate must have the name `host`; if that is nil, every certificate is accepted.
    func exchangeOverTLS(_ request: [UInt8], verifying host: String? = nil) throws(SystemError) -> [UInt8] {
        guard let client = try? TLSClient(sending: request, verifying: host) else {
            throw SystemError("cannot speak TLS to", subject, number: ENOMEM)
        }
        var answer: [UInt8] = []
        var received: [UInt8] = []
        repeat {
            let (plain, output) = client.receive(received)
            answer += plain
            try check(answer)
            try send(output)
            if client.hasEnded { return answer }
            received = try receive()
        } while !received.isEmpty
        return answer
    }

    private func check(_ answer: [UInt8]) throws(SystemError) {
        guard answer.count <= Self.limit else {
            throw SystemError("cannot read from", subject, number: EMSGSIZE)
        }
    }

    private func send(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The kernel reads the slice's own bytes, for the length of the call.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw SystemError("cannot send to", subject) }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns the next bytes; empty at the end.
    private func receive() throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: TLSClient.receiveLength)
        // The kernel writes at most the buffer's own length into it.
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SystemError("cannot read from", subject) }
        return Array(buffer[..<count])
    }

    private func connect(to listenAddress: ListenAddress) -> Int32 {
        let address = listenAddress.address
        if let ipv4 = address.ipv4 {
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = address.port.bigEndian
            target.sin_addr.s_addr = (ipv4 == 0 ? 0x7F00_0001 : ipv4).bigEndian
            // A sockaddr_in is a sockaddr of the family that it names, and lives for the call.
            return unsafe withUnsafePointer(to: &target) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        var target = sockaddr_in6()
        target.sin6_family = sa_family_t(AF_INET6)
        target.sin6_port = address.port.bigEndian
        // :: stands for every address; ::1 is the one that is surely here.
        let low = address.high == 0 && address.low == 0 ? 1 : address.low
        // The 16 bytes of an in6_addr are the two words in network order.
        target.sin6_addr = unsafe unsafeBitCast((address.high.bigEndian, low.bigEndian), to: in6_addr.self)
        // As above, for a sockaddr_in6.
        return unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }
}
