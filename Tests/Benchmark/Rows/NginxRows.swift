import Support

// Rows that measure checks without a match, compared with nginx, which sends the same bytes without a database.
extension Row {
    /// The rate of checks over connections that stay open.
    static let checks = Row(
        "checks",
        "checks that end in no_match beside nginx's static response, 64 connections, 1 M live clicks",
        isComparable: true,
        shares: [
            Share("checks_of_nginx", "checks (no_match), of nginx", .atLeast(0.8), of: (0, 2)),
            Share("checks_of_nginx_with_buffered_log", "the same, of nginx with a buffered log", of: (0, 4)),
        ]
    ) { bench in
        let server = try bench.liveServer()
        let wrk = Wrk(WrkScript.misses(key: server.key))
        func contest(_ target: some Listener, _ rate: FigureName, _ cost: FigureName) -> Contest {
            Contest(names: [rate, cost]) { seconds in
                let (result, coreMicroseconds) = try wrk.turn(target, seconds)
                return [result.perSecond, coreMicroseconds]
            }
        }
        let rate = FigureName("checks_per_second", "checks a second")
        let cost = FigureName("check_core_microseconds", "processor time of a check, µs")
        guard !bench.comparesBinaries else { return [contest(server, rate, cost)] }
        return try [contest(server, rate, cost)]
            + [("nginx", Nginx.Log.eachRequest, ""), ("nginx_buffered", .buffered, ", buffered log")].map {
                name,
                log,
                note in
                let rate = FigureName("\(name)_per_second", "nginx's responses a second\(note)")
                let cost = FigureName("\(name)_core_microseconds", "processor time of a response, µs\(note)")
                return contest(try Nginx(server.noMatch(), bench, log: log), rate, cost)
            }
    }

    /// The rate of checks that each use a new connection.
    static let newConnections = besideNginx("new-connections", "checks on new connections") {
        try Wrk(WrkScript.misses(key: $0, isClosing: true)).run($1, $2).perSecond
    }

    /// The rate of checks over TLS 1.3 on connections that stay open.
    static let tls = besideNginx("tls", "checks over TLS 1.3", isEncrypted: true) {
        try Wrk(WrkScript.misses(key: $0)).run($1, $2).perSecond
    }

    /// The rate of checks on new TLS 1.3 connections that resume a session.
    static let tlsResumption = besideNginx(
        "tls-resumption",
        "checks on resumed TLS connections",
        isEncrypted: true
    ) { key, target, seconds in
        let plan = ResumptionPlan(port: target.port, key: key, seconds: seconds)
        let result: ResumptionResult = try LoadProgram.result(of: LoadProgram.resumption.start(plan))
        let (answered, resumed, failures) = (result.answered, result.resumed, result.failures)
        guard failures <= answered / 1000 else {
            throw BenchmarkError("\(failures) TLS connections failed, \(answered) got a response.")
        }
        // The first connection of each thread has nothing to resume.
        guard resumed >= answered * 9 / 10 else {
            throw NotMeasurable(reason: "only \(resumed) of \(answered) connections resumed their session")
        }
        return result.perSecond
    }

    /// Returns a row with the server's rate of checks and nginx's, both with the same certificate if encrypted.
    private static func besideNginx(
        _ name: String,
        _ title: String,
        isEncrypted: Bool = false,
        rate: @escaping @Sendable (_ key: String, _ target: any Listener, _ seconds: Double) throws -> Double
    ) -> Row {
        let prefix = name.replacing("-", with: "_")
        let share = Share("\(prefix)_of_nginx", "\(title), of nginx", .atLeast(0.8), of: (0, 1))
        return Row(name, "\(title) beside nginx", shares: [share]) { bench in
            if isEncrypted { try bench.binary.require("--tls-certificate") }
            let certificate = isEncrypted ? try CertificateFiles(in: bench.folder.url) : nil
            let clicks = try bench.installation(.live(bench.scale.liveClicks))
            let server = try Server(clicks, bench, certificate: certificate)
            let nginx = try Nginx(server.noMatch(), bench, certificate: certificate)
            let ofServer = FigureName("\(prefix)_per_second", "\(title) a second")
            let ofNginx = FigureName("\(prefix)_nginx_per_second", "\(title) a second, nginx")
            return [
                Contest(names: [ofServer]) { [try rate(server.key, server, $0)] },
                Contest(names: [ofNginx]) { [try rate(server.key, nginx, $0)] },
            ]
        }
    }
}
