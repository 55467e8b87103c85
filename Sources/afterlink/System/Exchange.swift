internal import Glibc
internal import HTTPServer
internal import JSON
internal import Server

/// Sends HTTP requests to one server, each over a connection of its own, and waits for the whole response.
package struct Exchange: Sendable {
    /// The name or address of the server.
    private let host: String
    private let port: UInt16
    private let isTLS: Bool
    /// Whether the server's certificate must have its name, and an issuer that this machine trusts.
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
                let port = ValueText.integer(
                    String(authority[authority.index(after: colon)...]),
                    in: UInt16(1)...65535
                )
            else { return nil }
            host = String(authority[..<colon])
            self.port = port
        }
    }

    /// The server that serves at an address on this machine.
    ///
    /// Its certificate is not verified: send nothing secret over TLS.
    init(_ address: ListenAddress, overTLS: Bool = false) {
        var text = "\(address)"
        // These stand for every address; a request needs one.
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

    var overTLS: Bool { isTLS }

    /// The field `Host`.
    package var hostField: String { port == (isTLS ? 443 : 80) ? host : "\(host):\(port)" }

    private static func isOfAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:[]".utf8.contains(byte)
        }
    }

    /// Sends a `GET` without header fields of its own.
    func get(_ target: String) throws(SystemError) -> ClientResponse? {
        try send(ClientRequest("GET \(target)", host: hostField, []))
    }

    /// - Returns: the response; nil if what came is no HTTP.
    func send(_ request: ClientRequest) throws(SystemError) -> ClientResponse? {
        let bytes = Array(request.text.utf8)
        let known =
            ListenAddress("\(host):\(port)").map { [$0] } ?? HostLookup.addresses(of: host, port: port)
        var failure = SystemError("cannot find an address of", host, number: ENOENT)
        for address in known {
            do throws(SystemError) {
                let connection = try ClientConnection(to: address)
                let received =
                    try isTLS
                    ? connection.exchangeOverTLS(bytes, verifying: verifiesCertificate ? host : nil)
                    : connection.exchange(bytes)
                return ClientResponse(received)
            } catch {
                // The next address may be the one where it listens.
                failure = error
            }
        }
        throw failure
    }
}
