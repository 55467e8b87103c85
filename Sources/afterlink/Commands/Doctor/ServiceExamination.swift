internal import HTTPServer
internal import Server

/// Checks that a service runs on the database and responds at its address, and how many files it may open.
struct ServiceExamination {
    private let configuration: Configuration
    private let holder: Int32?

    /// - Parameters:
    ///   - configuration: says where it should answer, and how many connections it takes.
    ///   - holder: a process that has the database open; 0 where its number is not to be seen.
    init(_ configuration: Configuration, holder: Int32?) {
        self.configuration = configuration
        self.holder = holder
    }

    func diagnoses() -> [Diagnosis] {
        answers + [descriptors]
    }

    private var answers: [Diagnosis] {
        let address = configuration.listen
        let process = holder.map {
            $0 > 0 ? "process \($0) has the database open" : "another process has the database open"
        }
        guard address.address.port != 0 else {
            return [
                .ok("service", "\(process ?? "no process has the database open"); port 0 cannot be asked")
            ]
        }
        let health = status(of: "/healthz")
        guard let process else {
            guard health != nil else { return [.ok("service", "none runs on the database")] }
            return [
                .warning(
                    "service",
                    "something answers at \(address), but no process has this database open",
                    "give the settings that the service has: --database, --listen"
                )
            ]
        }
        guard let health else {
            return [
                .problem(
                    "service",
                    "\(process), but nothing answers at \(address)",
                    "give the settings that the service has (--listen), or see in its log why it does not answer"
                )
            ]
        }
        let ready = status(of: "/readyz")
        guard health == 200, ready == 200 else {
            return [
                .problem(
                    "service",
                    "\(process); at \(address) /healthz is answered \(health), /readyz \(ready.map(String.init) ?? "not")",
                    "the service's log says why"
                )
            ]
        }
        return [.ok("service", "\(process); at \(address) /healthz and /readyz are answered 200")]
    }

    private var descriptors: Diagnosis {
        let (limit, whose) =
            holder.flatMap(DescriptorLimit.ofProcess).map { ($0, "the running process") }
            ?? (DescriptorLimit.highest, "a service started from here")
        let possible = max(0, limit - RunningService.ownDescriptors)
        let text = "\(whose) may open \(limit) files and sockets: room for \(possible) connections"
        let wanted = configuration.maximumConnections ?? Configuration.connectionsWorthHaving
        guard possible < wanted else { return .ok("descriptors", text) }
        return .warning(
            "descriptors",
            "\(text), not \(wanted)",
            "raise the limit with LimitNOFILE or `ulimit -n`, or lower --maximum-connections"
        )
    }

    /// The status of the response; nil if there is none.
    private func status(of target: String) -> Int? {
        let exchange = Exchange(configuration.listen, overTLS: configuration.tlsCertificate != nil)
        return (try? exchange.get(target))?.status
    }
}
