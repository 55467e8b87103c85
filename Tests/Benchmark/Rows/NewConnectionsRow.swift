/// Checks on a new connection each, beside nginx doing the same.
enum NewConnectionsRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        let nginx = try Nginx(Loading.noMatch(of: server), bench)
        let wrk = Wrk(script: .misses(key: server.installation.keys.app, isClosing: true))
        let rates = try bench.interleaved([
            { try wrk.run(port: nginx.port, seconds: $0, bench).perSecond },
            { try wrk.run(port: server.port, seconds: $0, bench).perSecond },
        ])
        return [
            Figure(.newConnectionsOfNginx, rates[1], of: rates[0]),
            Figure(.newConnectionsPerSecond, rates[1]),
        ]
    }
}
