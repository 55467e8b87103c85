/// From the start of the process to its first answer that it is ready, with a warm page cache.
enum StartRow: ComparableRow {
    static let name = "start"
    static let summary = "start to ready with 10 M stored clicks, after a stop and after a kill"

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let installation = try bench.installation(bench.scale.yearOfClicks)
        // The first start reads the database into the page cache.
        try Server(installation, bench).stop()
        return [
            Contest(
                FigureName("clean_start_milliseconds", "start to ready after a stop, ms", .below(150)),
                FigureName("start_after_kill_milliseconds", "start to ready after a kill, ms", .below(2000)),
                beside: [FigureName("start_after_kill_wal_megabytes", "write-ahead log at the kill, MB")]
            ) { _ in
                let server = try Server(installation, bench)
                let clean = server.secondsToReady * 1000
                // Killed right after a load, with as much in the log as such a load leaves there.
                _ = try server.highestClickRate()
                let logMegabytes = server.logBytes() / 1e6
                server.kill()
                return [clean, try Server(installation, bench).secondsToReady * 1000, logMegabytes]
            }
        ]
    }
}
