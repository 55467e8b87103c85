internal import Glibc
internal import HTTPServer

/// The server that trials are sent to.
package struct TrialServer: Sendable {
    /// The name or address that was given.
    private let host: String
    private let port: UInt16
    private let isTLS: Bool

    /// Reads `http://host:port` or `https://host`; nil for anything else, such as one with a path.
    package init?(_ url: String) {
        guard let separator = url.firstRange(of: "://") else { return nil }
        switch url[..<separator.lowerBound].lowercased() {
        case "http": isTLS = false
        case "https": isTLS = true
        default: return nil
        }
        var authority = url[separator.upperBound...]
        if authority.hasSuffix("/") { authority.removeLast() }
        guard !authority.isEmpty, authority.utf8.allSatisfy(Self.isOfAuthority) else { return nil }
        let isBare = authority.hasSuffix("]") || !authority.contains(":")
        if isBare {
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

    /// The server that serves with these settings on this machine.
    init(_ address: ListenAddress) {
        var text = "\(address)"
        // These stand for every address; a request needs one.
        for (every, own) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")] where text.hasPrefix(every) {
            text = own + text.dropFirst(every.count)
        }
        host = String(text.prefix(upTo: text.lastIndex(of: ":") ?? text.endIndex))
        port = address.address.port
        isTLS = false
    }

    /// As people write it.
    package var url: String { "\(isTLS ? "https" : "http")://\(hostField)" }

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

    /// - Throws: where there is no service that is ready.
    func requireReady() throws {
        let answer = try exchange(ClientRequest("GET /readyz", host: hostField, []))
        guard answer.status == 200 else {
            throw CommandFailure(
                "At \(url), /readyz is answered \(answer.statusText).",
                advice: answer.status == 503
                    ? "The service is not ready; its log says why."
                    : "Name the service's own address with --server."
            )
        }
    }

    /// Sends a request on a connection of its own.
    func exchange(_ request: ClientRequest) throws -> ClientResponse {
        let bytes = try attempt {
            try answer(to: Array(request.text.utf8))
        } orElse: { (error: SystemError) in
            CommandFailure(
                "No service answers at \(url): \(error.text).",
                advice: "Start it with `afterlink serve`, or name its address with --server, as in"
                    + " --server http://127.0.0.1:8080."
            )
        }
        guard let answer = ClientResponse(bytes) else {
            throw CommandFailure(
                isTLS
                    ? "What answers at \(url) has no certificate for that name that this machine trusts, or speaks no"
                        + " HTTPS."
                    : "What answers at \(url) speaks no HTTP.",
                advice:
                    "Name the service's own address with --server; with https:// where it, or the proxy before it,"
                    + " speaks TLS."
            )
        }
        return answer
    }

    private func answer(to request: [UInt8]) throws(SystemError) -> [UInt8] {
        let known =
            ListenAddress("\(host):\(port)").map { [$0] } ?? HostLookup.addresses(of: host, port: port)
        var failure = SystemError("cannot find an address of", host, number: ENOENT)
        for address in known {
            do throws(SystemError) {
                let connection = try ClientConnection(to: address)
                return try isTLS
                    ? connection.exchangeOverTLS(request, verifying: host) : connection.exchange(request)
            } catch {
                // The next address may be the one where it listens.
                failure = error
            }
        }
        throw failure
    }
}
