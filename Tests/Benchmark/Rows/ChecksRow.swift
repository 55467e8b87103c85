/// Checks that find nothing, beside nginx that gives the same bytes without looking.
enum ChecksRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let server = try Server(bench.installation(.live(bench.scale.liveClicks)), bench)
        let answer = try Loading.noMatch(of: server)
        let nginx = try Nginx(answer, bench)
        let buffered = try Nginx(answer, bench, log: .buffered)
        let wrk = Wrk(script: .misses(key: server.installation.keys.app))
        let turns = try bench.interleaved([
            { try Loading.turn(wrk, on: nginx.port, of: nginx.figures, seconds: $0, bench) },
            { try Loading.turn(wrk, on: server.port, of: server.figures, seconds: $0, bench) },
            { try Loading.turn(wrk, on: buffered.port, of: buffered.figures, seconds: $0, bench) },
        ])
        let rates = turns.map { $0.map(\.perSecond) }
        return [
            Figure(.checksOfNginx, rates[1], of: rates[0]),
            Figure(.checksOfBufferedNginx, rates[1], of: rates[2]),
            Figure(.checksPerSecond, rates[1]),
            Figure(.nginxPerSecond, rates[0]),
            Figure(.checkMicrosecondsOfCore, turns[1].map(\.coreMicroseconds)),
            Figure(.nginxMicrosecondsOfCore, turns[0].map(\.coreMicroseconds)),
        ]
    }
}
