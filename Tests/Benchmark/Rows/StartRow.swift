/// From the start of the process to its first answer that it is ready, with a warm page cache.
enum StartRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let plan = SeedPlan(stored: bench.scale.storedClicks, live: bench.scale.liveOfStored)
        let installation = try bench.installation(plan)
        try Server(installation, bench).stop()
        var (clean, killed, logs) = ([Double](), [Double](), [Double]())
        for _ in 0..<bench.options.rounds {
            let server = try Server(installation, bench)
            clean.append(server.secondsToReady * 1000)
            // Killed right behind a load, with as much in the log as such a load leaves there.
            _ = try Loading.highestClickRate(server, bench)
            logs.append(server.logBytes() / 1e6)
            server.kill()
            let next = try Server(installation, bench)
            killed.append(next.secondsToReady * 1000)
            next.stop()
        }
        return [
            Figure(.cleanStartMilliseconds, clean),
            Figure(
                .startAfterKillMilliseconds,
                killed,
                note: "write-ahead log of \(NumberText.short(logs.median)) MB"
            ),
        ]
    }
}
