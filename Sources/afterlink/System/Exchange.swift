internal import CLinux
internal import Glibc
internal import HTTPServer
internal import Server

/// Sends HTTP requests to one server, each over a connection of its own, and waits for the whole response.
package struct Exchange: Sendable {
    /// The name or address of the server.
    private let host: String
    private let port: UInt16
    let isTLS: Bool
    /// Whether the server's certificate must be for ``host``, from an issuer that this machine trusts.
    private let verifiesCertificate: Bool

    /// Reads `http://host:port` or `https://host`; nil for any other text, such as a URL with a path.
    package init?(_ url: String) {
        guard let separator = url.firstRange(of: "://") else { return nil }
        switch url[..<separator.lowerBound].lowercased() {
        case "http": isTLS = false
        case "https": isTLS = true
        default: return nil
        }
        verifiesCertificate = isTLS
        var authority = url[separator.upperBound...]
        if authority.hasSuffix("/") { authority.removeLast() }
        guard !authority.isEmpty, authority.utf8.allSatisfy(Self.isOfAuthority) else { return nil }
        if authority.hasSuffix("]") || !authority.contains(":") {
            host = String(authority)
            port = isTLS ? 443 : 80
        } else {
            guard let colon = authority.lastIndex(of: ":"), colon > authority.startIndex,
                let port = ValueText.integer(String(authority[colon...].dropFirst()), in: UInt16(1)...65535)
            else { return nil }
            host = String(authority[..<colon])
            self.port = port
        }
    }

    /// Creates the exchange with the server that listens at an address of this machine.
    ///
    /// The exchange does not verify the server's certificate, so send nothing secret over TLS.
    init(_ address: ListenAddress, overTLS: Bool = false) {
        var text = "\(address)"
        // 0.0.0.0 and [::] stand for every address of the machine; a request needs a single address.
        for (every, one) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")] where text.hasPrefix(every) {
            text = one + text.dropFirst(every.count)
        }
        host = String(text.prefix(upTo: text.lastIndex(of: ":") ?? text.endIndex))
        port = address.address.port
        isTLS = overTLS
        verifiesCertificate = false
    }

    /// The server's URL, as in `http://127.0.0.1:8080`.
    package var url: String { "\(isTLS ? "https" : "http")://\(hostField)" }

    /// The value of the header field `Host`.
    package var hostField: String { port == (isTLS ? 443 : 80) ? host : "\(host):\(port)" }

    private static func isOfAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:[]".utf8.contains(byte)
        }
    }

    /// Sends a `GET` request with only the header fields that every request has.
    func get(_ target: String) throws(SystemError) -> ClientResponse? {
        try send(ClientRequest("GET \(target)", host: hostField, []))
    }

    /// Sends a request to the first address of the server that accepts a connection.
    ///
    /// - Returns: the response; nil if the server did not send HTTP, or if TLS failed.
    func send(_ request: ClientRequest) throws(SystemError) -> ClientResponse? {
        let bytes = Array(request.text.utf8)
        let known =
            ListenAddress("\(host):\(port)").map { [$0] }
            ?? HostLookup.addresses(of: host, port: port).map { ListenAddress($0) }
        var failure = SystemError("cannot find an address of", host, number: ENOENT)
        for address in known {
            do throws(SystemError) {
                let connection = try ClientConnection(to: address)
                let tls = isTLS ? try client(sending: bytes, to: address) : nil
                return ClientResponse(try connection.exchange(bytes, over: tls))
            } catch {
                // The server may listen on the next address.
                failure = error
            }
        }
        throw failure
    }

    private func client(sending bytes: [UInt8], to address: ListenAddress) throws(SystemError) -> TLSClient {
        do throws(TLSError) {
            return try TLSClient(sending: bytes, verifying: verifiesCertificate ? host : nil)
        } catch { throw SystemError("cannot speak TLS to", "\(address)", number: ENOMEM) }
    }
}

/// A connection that sends one request to a server and blocks until the whole response has arrived.
struct ClientConnection: ~Copyable {
    private let descriptor: Int32
    private let subject: String

    /// The maximum length of a response, in bytes.
    private static let limit = 4 << 20

    /// - Parameters:
    ///   - listenAddress: the server's address; for 0.0.0.0 and ::, the kernel connects to the loopback address.
    ///   - timeoutSeconds: the maximum time of connecting, and of each send and receive.
    /// - Throws: if the connection cannot be made, for example because no process listens there.
    init(to listenAddress: ListenAddress, timeoutSeconds: Int = 5) throws(SystemError) {
        subject = "\(listenAddress)"
        let address = listenAddress.address
        let isIPv4 = address.ipv4 != nil
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(isIPv4 ? AF_INET : AF_INET6, kind, 0)
        guard descriptor >= 0 else { throw SystemError("cannot reach", subject) }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            // The kernel copies the local value.
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
        }
        let target = linux_address(high: address.high, low: address.low, port: address.port)
        guard linux_connect(descriptor, isIPv4 ? 1 : 0, target) == 0 else {
            throw SystemError("cannot reach", subject)
        }
    }

    deinit { close(descriptor) }

    /// Sends the bytes, over TLS unless `tls` is nil, and returns everything that the server sends until it closes the
    /// connection; if TLS fails, the result is empty or incomplete.
    func exchange(_ request: [UInt8], over tls: TLSClient?) throws(SystemError) -> [UInt8] {
        if tls == nil { try send(request) }
        var answer: [UInt8] = []
        var received: [UInt8] = []
        repeat {
            let (plain, output) = tls?.receive(received) ?? (received, [])
            answer += plain
            guard answer.count <= Self.limit else {
                throw SystemError("cannot read from", subject, number: EMSGSIZE)
            }
            try send(output)
            if tls?.hasEnded == true { break }
            received = try receive()
        } while !received.isEmpty
        return answer
    }

    private func send(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The kernel reads the slice's bytes only during the call.
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
        // The kernel writes at most `buffer.count` bytes.
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SystemError("cannot read from", subject) }
        return Array(buffer[..<count])
    }
}
