internal import Threads

/// Sends requests to servers of others, and trusts neither their names nor their responses.
///
/// The client requires TLS 1.2 or later and checks the certificate. It checks all addresses of the name and then
/// connects to one of the checked addresses, so that the name cannot lead elsewhere in between. It follows no
/// redirect, and limits the time and the length of the whole.
///
/// A call blocks its thread, and must not be made on an event loop. The reasons: the system's look-up of a name
/// blocks and cannot be cancelled, so that a thread is needed anyway; visitors' connections would wait for the
/// milliseconds that a handshake computes; and calls are rare. Source of the rules: OWASP ASVS 5.0, 1.3.6.
public struct HTTPSClient: Sendable {
    /// The limits of one call: its whole duration, and the length of a response.
    public struct Bounds: Sendable {
        public var time: Duration = .seconds(5)
        public var bodyByteCount = 64 * 1024

        public init(time: Duration = .seconds(5), bodyByteCount: Int = 64 * 1024) {
            self.time = time
            self.bodyByteCount = bodyByteCount
        }
    }

    /// Returns the addresses of a host; may block.
    public typealias Lookup = @Sendable (_ host: String, _ port: UInt16) -> [PeerAddress]

    public var bounds: Bounds
    private let roots: String?
    private let permits: @Sendable (PeerAddress) -> Bool
    private let lookup: Lookup

    /// - Parameters:
    ///   - bounds: the limits of one call.
    ///   - roots: a file of certificate authorities in PEM, instead of those that this machine trusts.
    ///   - lookup: the look-up of names, by default the system's.
    ///   - permits: returns whether the client may connect to an address.
    public init(
        bounds: Bounds = Bounds(),
        roots: String? = nil,
        lookup: @escaping Lookup = { host, port in HostLookup.addresses(of: host, port: port).map(\.address)
        },
        permits: @escaping @Sendable (PeerAddress) -> Bool
    ) {
        self.bounds = bounds
        self.roots = roots
        self.lookup = lookup
        self.permits = permits
    }

    /// Sends a request and waits for the whole response.
    public func send(_ request: HTTPSRequest) throws(HTTPSFailure) -> HTTPSResponse {
        let deadline = MonotonicTime.now().advanced(by: bounds.time)
        let addresses = try BoundedLookup.addresses(
            of: request.host,
            request.port,
            until: deadline,
            by: lookup
        )
        guard !addresses.isEmpty else { throw .unknownHost }
        // A name that also has an internal address is not trusted with its other addresses either.
        guard addresses.allSatisfy(permits) else { throw .addressRefused }
        let socket = try ClientSocket(toOneOf: addresses, until: deadline)
        let exchange = try HTTPSExchange(request, bodyLimit: bounds.bodyByteCount, roots: roots)
        return try exchange.run(over: socket, until: deadline)
    }
}

/// One request and its response over one connection.
private struct HTTPSExchange {
    private let tls: TLSClient
    private let isHead: Bool
    private let bodyLimit: Int

    init(_ request: HTTPSRequest, bodyLimit: Int, roots: String?) throws(HTTPSFailure) {
        do throws(TLSError) {
            tls = try TLSClient(sending: request.bytes, verifying: request.host, roots: roots)
        } catch {
            throw .resources
        }
        isHead = request.method == .head
        self.bodyLimit = bodyLimit
    }

    func run(over socket: borrowing ClientSocket, until deadline: MonotonicTime) throws(HTTPSFailure)
        -> HTTPSResponse
    {
        var parser = HTTPSResponseParser(isHead: isHead, bodyLimit: bodyLimit)
        var received: [UInt8] = []
        while true {
            let (plain, output) = tls.receive(received)
            let stage: HTTPSFailure.Stage = tls.isEstablished ? .answer : .handshake
            if let answer = try parser.receive(plain) { return answer }
            // Send the alert anyway; it does not matter whether it arrives.
            if tls.hasEnded, !tls.hasEndedWell {
                _ = try? socket.send(output, until: deadline, stage)
                throw failure(hasBegun: !plain.isEmpty || parser.hasBegun)
            }
            if tls.hasEndedWell { return try parser.end(isClean: true) }
            try socket.send(output, until: deadline, stage)
            received = try socket.receive(until: deadline, stage)
            guard !received.isEmpty else {
                guard tls.isEstablished else { throw .tls }
                return try parser.end(isClean: false)
            }
        }
    }

    private func failure(hasBegun: Bool) -> HTTPSFailure {
        if let problem = tls.certificateProblem { return .certificate(problem) }
        return hasBegun ? .endedEarly : .tls
    }
}
