internal import Attribution
internal import HTTPServer
internal import Server

/// Checks that a service runs on the database and responds at its address, and how many files it may open.
struct ServiceExamination {
    /// The settings of the service: its address and its number of connections.
    let configuration: Configuration
    /// The id of a process that has the database open; 0 if the id is not visible, nil if there is no such process.
    let holder: Int32?

    func diagnoses() -> [Diagnosis] { [answers, descriptors] }

    private var answers: Diagnosis {
        let address = configuration.listen
        let process = holder.map {
            $0 > 0 ? "process \($0) has the database open" : "another process has the database open"
        }
        guard address.address.port != 0 else {
            return .ok("service", "\(process ?? "no process has the database open"); port 0 cannot be called")
        }
        let health = status(of: "/healthz")
        guard let process else {
            guard health != nil else { return .ok("service", "no service runs on the database") }
            return .warning(
                "service",
                "a server responds at \(address), but no process has this database open"
            ).advising("give the settings of the service: --database, --listen")
        }
        guard let health else {
            return .problem("service", "\(process), but no server responds at \(address)")
                .advising("give the service's --listen, or see in its log why it does not respond")
        }
        let ready = status(of: "/readyz")
        guard health == 200, ready == 200 else {
            let readiness = ready.map(String.init) ?? "nothing"
            return .problem(
                "service",
                "\(process); at \(address) /healthz returns \(health), /readyz \(readiness)"
            ).advising("see the service's log for the reason")
        }
        return .ok("service", "\(process); at \(address) /healthz and /readyz return 200")
    }

    private var descriptors: Diagnosis {
        let (limit, whose) =
            holder.flatMap(DescriptorLimit.ofProcess).map { ($0, "the running process") }
            ?? (DescriptorLimit.highest, "a service started from here")
        let possible = max(0, limit - configuration.reservedDescriptors)
        let text = "\(whose) may open \(limit) files and sockets: room for \(possible) connections"
        let wanted = configuration.maximumConnections ?? Configuration.connectionsWorthHaving
        guard possible < wanted else { return .ok("descriptors", text) }
        return .warning("descriptors", "\(text), not \(wanted)")
            .advising("raise the limit with LimitNOFILE or `ulimit -n`, or lower --maximum-connections")
    }

    /// Returns the status of the response; nil if there is none.
    private func status(of target: String) -> Int? {
        let exchange = Exchange(configuration.listen, overTLS: configuration.tlsCertificate != nil)
        return (try? exchange.get(target))?.status
    }
}

/// Examines how the client address of a request is found.
struct RequestExamination {
    private let peer: NetworkAddress
    private let forwardedFor: [String]
    private let forwarded: [String]

    /// Reads the request that the options describe; nil if they describe none.
    ///
    /// - Throws: if the address is invalid, or header fields are given without an address.
    init?(_ arguments: Arguments) throws {
        forwardedFor = arguments.values("forwarded-for") ?? []
        forwarded = arguments.values("forwarded") ?? []
        guard let text = arguments.value("request-from") else {
            guard forwardedFor.isEmpty, forwarded.isEmpty else {
                throw CommandFailure.usage(
                    "--forwarded-for and --forwarded need the address of a connection."
                ).advising("Give it with --request-from.")
            }
            return nil
        }
        guard let address = NetworkAddress(text) else {
            let sentence = "must be an IP address, as in 203.0.113.9 or 2001:db8::9"
            throw CommandFailure.wrongValue("request-from", text, sentence)
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
                .warning("request", "X-Forwarded-For and Forwarded name different clients; both are ignored")
                    .advising("let the proxy write one of them and remove the other")
            )
        }
        diagnoses.append(.ok("request", "the client address is \(derivation.client.text)"))
        return diagnoses
    }

    private func firstHop(_ derivation: ClientDerivation, hasProxies: Bool) -> Diagnosis {
        guard !derivation.peerIsTrusted else {
            return .ok("request", "\(peer.text) is connected, a trusted proxy: its headers are read")
        }
        let text = "\(peer.text) is connected, not a trusted proxy: its headers are not read"
        guard !forwardedFor.isEmpty || !forwarded.isEmpty else { return .ok("request", text) }
        return .warning("request", text)
            .advising(
                hasProxies
                    ? "if it is your proxy, add its network with --trusted-proxy"
                    : "no proxy is trusted; if it is your proxy, name its network with --trusted-proxy"
            )
    }

    private func hops(_ hops: [ClientDerivation.Hop], of field: String) -> [Diagnosis] {
        hops.map { hop in
            let text =
                switch hop {
                case .trusted(let address):
                    "\(address.text), a trusted proxy, too: reading continues to the left"
                case .client(let address): "\(address.text), not a trusted proxy: this is the client"
                case .notAnAddress: "a hop that is not an address: reading ends at the hop to its right"
                case .unread(let address):
                    "\(address?.text ?? "not an address"), not read: any client could write it"
                }
            return .ok("request", "\(field): \(text)")
        }
    }
}
