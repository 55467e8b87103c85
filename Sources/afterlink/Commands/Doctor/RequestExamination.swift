internal import Attribution

/// The client address of a request.
struct RequestExamination {
    private let peer: NetworkAddress
    private let forwardedFor: [String]
    private let forwarded: [String]

    /// Nil if the options name no request.
    ///
    /// - Throws: if the address is invalid, or headers are given without one.
    init?(_ arguments: Arguments) throws {
        forwardedFor = arguments.values("forwarded-for") ?? []
        forwarded = arguments.values("forwarded") ?? []
        guard let text = arguments.value("request-from") else {
            guard forwardedFor.isEmpty, forwarded.isEmpty else {
                throw CommandFailure(
                    .usage,
                    "--forwarded-for and --forwarded belong to a request.",
                    advice: "Say with --request-from which address the request's connection comes from."
                )
            }
            return nil
        }
        guard let address = NetworkAddress(text) else {
            throw CommandFailure.wrongValue(
                "request-from",
                text,
                "must be an IP address, as in 203.0.113.9 or 2001:db8::9"
            )
        }
        peer = address
    }

    func diagnoses(trusting ranges: [AddressRange]) -> [Diagnosis] {
        let derivation = TrustedProxies(ranges)
            .derivation(peer: peer, forwardedFor: forwardedFor, forwarded: forwarded)
        var diagnoses = [firstHop(derivation, hasProxies: !ranges.isEmpty)]
        diagnoses += hops(derivation.forwardedFor, of: "X-Forwarded-For")
        diagnoses += hops(derivation.forwarded, of: "Forwarded")
        if derivation.headersDisagree {
            diagnoses.append(
                .warning(
                    "request",
                    "X-Forwarded-For and Forwarded name different clients, so that neither is believed",
                    "let the proxy write one of them and remove the other"
                )
            )
        }
        diagnoses.append(.ok("request", "the request counts with the address \(derivation.client.text)"))
        return diagnoses
    }

    private func firstHop(_ derivation: ClientDerivation, hasProxies: Bool) -> Diagnosis {
        guard !derivation.peerIsTrusted else {
            return .ok(
                "request",
                "\(peer.text) is connected, a trusted proxy: what it says of the hop before is read"
            )
        }
        let text = "\(peer.text) is connected, and no trusted proxy: its headers are not read"
        guard !forwardedFor.isEmpty || !forwarded.isEmpty else { return .ok("request", text) }
        return .warning(
            "request",
            text,
            hasProxies
                ? "if it is yours, add its network with --trusted-proxy"
                : "no proxy is trusted; if it is yours, name its network with --trusted-proxy"
        )
    }

    private func hops(_ hops: [ClientDerivation.Hop], of field: String) -> [Diagnosis] {
        hops.map { hop in
            switch hop {
            case .trusted(let address):
                .ok("request", "\(field): \(address.text), a trusted proxy too: read on to the left")
            case .client(let address):
                .ok("request", "\(field): \(address.text), not a trusted proxy: this is the client")
            case .notAnAddress:
                .ok("request", "\(field): a hop that is no address: the reading ends at the one to its right")
            case .unread(let address):
                .ok(
                    "request",
                    "\(field): \(address?.text ?? "a hop that is no address"), not read: anybody could write it"
                )
            }
        }
    }
}
