public import Attribution
public import HTTPServer
internal import Synchronization
internal import Threads

/// A range of addresses inside the operator's networks to which postbacks may be sent.
public struct PostbackAllowance: Hashable, Sendable {
    public let range: AddressRange
    /// Nil for all ports.
    public let port: UInt16?

    /// Reads `CIDR` or `CIDR:PORT`, such as `10.0.0.0/8:8443`; the CIDR may be a single IPv4 address.
    public init?(_ text: String) {
        let start = text.lastIndex(of: "/") ?? text.startIndex
        let colons = text[start...].count { $0 == ":" }
        guard colons == 1, let colon = text.lastIndex(of: ":") else {
            guard let range = AddressRange(text) else { return nil }
            (self.range, port) = (range, nil)
            return
        }
        guard let range = AddressRange(String(text[..<colon])),
            let number = UInt16(text[text.index(after: colon)...]), number > 0
        else { return nil }
        (self.range, port) = (range, number)
    }

    func permits(_ peer: PeerAddress) -> Bool {
        range.contains(NetworkAddress(high: peer.high, low: peer.low)) && (port == nil || port == peer.port)
    }
}

/// Sends postbacks, each on a thread of its own; the job that calls it limits their number.
public final class PostbackSender: Sendable {
    private let secure: HTTPSClient
    private let plain: HTTPSClient
    /// Whether postbacks may go to an address, with or without TLS.
    private let permits: @Sendable (PeerAddress, _ isPlain: Bool) -> Bool
    private let userAgent: String
    /// Whether the operator permits addresses beyond the public ones.
    private let allowsOthers: Bool

    public static let bounds = HTTPSClient.Bounds(
        time: .seconds(15),
        bodyByteCount: 16 * 1024,
        cutsLongBodies: true
    )

    /// - Parameters:
    ///   - allowed: addresses inside the operator's networks; others must be public, with HTTPS on port 443.
    ///   - roots: a file of certificate authorities in PEM; nil means the authorities that this machine trusts.
    ///   - userAgent: the `User-Agent` of requests.
    ///   - bounds: the limits of one call.
    ///   - own: returns the service's own listen addresses, which get no postbacks even if they are allowed.
    public init(
        allowed: [PostbackAllowance],
        roots: String? = nil,
        userAgent: String,
        bounds: HTTPSClient.Bounds = PostbackSender.bounds,
        own: @escaping @Sendable () -> [PeerAddress] = { [] }
    ) {
        self.userAgent = userAgent
        allowsOthers = !allowed.isEmpty
        let permits: @Sendable (PeerAddress, Bool) -> Bool = { peer, isPlain in
            let isPublic =
                !isPlain && peer.port == 443 && NetworkAddress(high: peer.high, low: peer.low).isPublic
            guard isPublic || allowed.contains(where: { $0.permits(peer) }) else { return false }
            return !peer.isUnspecified && !own().contains { $0.isReached(by: peer) }
        }
        self.permits = permits
        secure = HTTPSClient(bounds: bounds, roots: roots) { permits($0, false) }
        plain = HTTPSClient(bounds: bounds) { permits($0, true) }
    }

    /// Returns a sentence that states why no postbacks can be sent to a URL; nil if they can.
    ///
    /// A name may have other addresses at each call. So for a name, the result is nil unless all its addresses would be
    /// refused.
    public func refusal(ofURL url: String) -> String? {
        guard let target = PostbackTarget(url.trimmed) else { return nil }
        let literal = NetworkAddress(target.host.filter { !"[]".contains($0) })
        // A public address stands for the addresses of a name.
        guard let address = literal ?? (allowsOthers ? nil : NetworkAddress("1.1.1.1")),
            !permits(PeerAddress(high: address.high, low: address.low, port: target.port), target.isPlain)
        else { return nil }
        return "No postbacks are sent to this URL: \(Self.refusal(of: target))."
    }

    /// Makes a call on a new thread; calls `done` once, on that thread, or at once if no thread can be started.
    public func send(_ call: PostbackCall, _ done: @escaping @Sendable (PostbackAnswer) -> Void) {
        do throws(ThreadStartError) {
            try SystemThread.start { [self] in done(answer(call)) }
        } catch {
            done(PostbackAnswer(failure: "the system could not start a thread (error \(error.systemError))"))
        }
    }

    private func answer(_ call: PostbackCall) -> PostbackAnswer {
        let fields = call.fields.map { FieldLine(name: $0.name, value: $0.value) }
        guard let target = PostbackTarget(call.url),
            var request = HTTPSRequest(
                host: target.host,
                port: target.port,
                call.isPost ? .post : .get,
                target.target,
                fields: fields + [FieldLine(name: "User-Agent", value: userAgent)],
                body: call.body
            )
        else { return PostbackAnswer(failure: "the URL cannot be called") }
        request.isPlain = target.isPlain
        let start = MonotonicTime.now()
        var answer: PostbackAnswer
        do throws(HTTPSFailure) {
            let response = try (target.isPlain ? plain : secure).send(request)
            answer = PostbackAnswer(status: response.status)
            answer.retryAfter = response.field("retry-after")
            let text = String(decoding: response.body.prefix(PostbackAnswer.maximumBodyLength), as: UTF8.self)
            // PostgreSQL cannot store a zero byte in a text.
            answer.body = text.replacing("\0", with: "")
        } catch {
            let failure = error == .addressRefused ? Self.refusal(of: target) : error.message
            answer = PostbackAnswer(failure: failure)
        }
        answer.milliseconds = Int64(clamping: MonotonicTime.now().nanoseconds(since: start) / 1_000_000)
        return answer
    }
}

extension PostbackSender {
    /// Returns the reason why an address that a URL leads to gets no postbacks.
    private static func refusal(of target: PostbackTarget) -> String {
        let reason: String
        if target.isPlain {
            reason = "http:// without TLS"
        } else if target.port != 443 {
            reason = "port \(target.port)"
        } else {
            reason = "an address inside a network, such as 127.0.0.1 or 10.0.0.1,"
        }
        return
            "\(reason) is not permitted; --postback-allow permits addresses of your network, except this service's own"
    }
}

extension PeerAddress {
    /// Returns whether a connection to an address reaches this listener.
    fileprivate func isReached(by peer: PeerAddress) -> Bool {
        peer.port == port && (peer == self || isUnspecified && peer.isOfThisMachine)
    }

    /// Whether this is 0.0.0.0 or `::`.
    ///
    /// A listener with this address accepts connections to all addresses of this machine; a connection to it reaches
    /// this machine.
    fileprivate var isUnspecified: Bool { ipv4 == 0 || ipv4 == nil && high == 0 && low == 0 }
}
