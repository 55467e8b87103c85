import Support

/// Both servers with the same certificate, for the rows over TLS.
private struct EncryptedServers {
    let server: Server
    let nginx: Nginx

    init(_ bench: Workbench) throws {
        try bench.binary.require("--tls-certificate")
        let files = try CertificateFiles(in: bench.folder.url)
        server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench, certificate: files)
        nginx = try Nginx(server.noMatch(), bench, certificate: files)
    }
}

/// Checks over TLS 1.3 on connections that stay open, beside nginx doing the same.
enum TLSRow: Row {
    static let name = "tls"
    static let summary = "checks over TLS 1.3, keep-alive, beside nginx"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let servers = try EncryptedServers(bench)
        let wrk = Wrk(.misses(key: servers.server.key))
        let rates = try bench.interleaved([
            { try wrk.run(servers.nginx, $0).perSecond }, { try wrk.run(servers.server, $0).perSecond },
        ])
        return [
            FigureName("tls_of_nginx", "checks over TLS 1.3, of nginx", .atLeast(0.8))
                .figure(rates[1], of: rates[0]),
            FigureName("tls_per_second", "checks over TLS 1.3 a second").figure(rates[1]),
        ]
    }
}

/// Checks on new TLS 1.3 connections that resume a session, beside nginx doing the same.
enum TLSResumptionRow: Row {
    static let name = "tls-resumption"
    static let summary = "checks on new, resumed TLS 1.3 connections beside nginx"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let servers = try EncryptedServers(bench)
        let key = servers.server.key
        let rates = try bench.interleaved([
            { try rate(ResumptionPlan(port: servers.nginx.port, key: key, seconds: $0)) },
            { try rate(ResumptionPlan(port: servers.server.port, key: key, seconds: $0)) },
        ])
        return [
            FigureName(
                "tls_resumption_of_nginx",
                "checks on resumed TLS connections, of nginx",
                .atLeast(0.8)
            ).figure(rates[1], of: rates[0]),
            FigureName("tls_resumption_per_second", "checks on resumed TLS connections a second").figure(
                rates[1]
            ),
        ]
    }

    private static func rate(_ plan: ResumptionPlan) throws -> Double {
        let result: ResumptionResult = try LoadProgram.result(of: LoadProgram.resumption.start(plan))
        let (answered, resumed, failures) = (result.answered, result.resumed, result.failures)
        guard failures <= answered / 1000 else {
            throw BenchmarkError("\(failures) TLS connections failed, \(answered) were answered.")
        }
        // The first connection of each thread has nothing to resume.
        guard resumed >= answered * 9 / 10 else {
            throw NotMeasurable("only \(resumed) of \(answered) connections resumed their session")
        }
        return result.perSecond
    }
}
