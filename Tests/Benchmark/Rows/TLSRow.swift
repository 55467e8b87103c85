import Support

/// Both servers with the same certificate, for the rows over TLS.
struct EncryptedServers {
    let server: Server
    let nginx: Nginx

    init(_ bench: Workbench) throws {
        guard bench.binary.knows("--tls-certificate") else {
            throw NotMeasurable("the server has no setting --tls-certificate")
        }
        let installation = try bench.installation(.live(bench.scale.liveClicks))
        let certificate = try Certificate(in: bench.folder.path)
        server = try Server(installation, bench, certificate: certificate)
        nginx = try Nginx(server.noMatch(), bench, certificate: certificate)
    }

    var key: String { server.installation.keys.app }
}

/// Checks over TLS 1.3 on connections that stay open, beside nginx doing the same.
enum TLSRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let servers = try EncryptedServers(bench)
        let wrk = Wrk(script: .misses(key: servers.key))
        let rates = try bench.interleaved([
            { try wrk.run(port: servers.nginx.port, seconds: $0, isEncrypted: true, bench).perSecond },
            { try wrk.run(port: servers.server.port, seconds: $0, isEncrypted: true, bench).perSecond },
        ])
        return [Figure(.tlsOfNginx, rates[1], of: rates[0]), Figure(.tlsPerSecond, rates[1])]
    }
}

/// Checks on new TLS 1.3 connections that resume a session, beside nginx doing the same.
enum TLSResumptionRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let servers = try EncryptedServers(bench)
        let rates = try bench.interleaved([
            { try rate(servers.nginx.port, servers.key, $0) },
            { try rate(servers.server.port, servers.key, $0) },
        ])
        return [
            Figure(.tlsResumptionOfNginx, rates[1], of: rates[0]), Figure(.tlsResumptionPerSecond, rates[1]),
        ]
    }

    private static func rate(_ port: UInt16, _ key: String, _ seconds: Double) throws -> Double {
        let result = try ResumptionPlan(port: port, key: key, seconds: seconds).run()
        guard result.failures <= result.answered / 1000 else {
            throw BenchmarkError(
                "\(result.failures) TLS connections failed, \(result.answered) were answered."
            )
        }
        // The first connection of each thread has nothing to resume.
        guard result.resumed >= result.answered * 9 / 10 else {
            throw NotMeasurable(
                "only \(result.resumed) of \(result.answered) connections resumed their session"
            )
        }
        return result.perSecond
    }
}
