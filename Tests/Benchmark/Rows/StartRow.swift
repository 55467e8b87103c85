import Support

/// From the start of the process to its first answer that it is ready, with a warm page cache.
enum StartRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let starts = try Starts(bench)
        let turns = try (0..<bench.options.rounds).map { _ in try starts.turn() }
        return [
            Figure(.cleanStartMilliseconds, turns.map(\.clean)),
            Figure(
                .startAfterKillMilliseconds,
                turns.map(\.killed),
                note: "write-ahead log of \(NumberText.short(turns.map(\.logMegabytes).median)) MB"
            ),
        ]
    }

    static func contests(_ bench: Workbench) throws -> [Contest] {
        let starts = try Starts(bench)
        return [
            Contest(.cleanStartMilliseconds, .startAfterKillMilliseconds) { _ in
                let turn = try starts.turn()
                return [turn.clean, turn.killed]
            }
        ]
    }

    private struct Starts {
        let bench: Workbench
        let installation: Installation

        init(_ bench: Workbench) throws {
            self.bench = bench
            installation = try bench.installation(
                SeedPlan(stored: bench.scale.storedClicks, live: bench.scale.liveOfStored)
            )
            // The first start reads the database into the page cache.
            try Server(installation, bench).stop()
        }

        /// Milliseconds of a start after a stop, and of one after a kill.
        func turn() throws -> (clean: Double, killed: Double, logMegabytes: Double) {
            let server = try Server(installation, bench)
            let clean = server.secondsToReady * 1000
            // Killed right after a load, with as much in the log as such a load leaves there.
            _ = try server.highestClickRate(bench.options.seconds, bench)
            let logMegabytes = server.logBytes() / 1e6
            server.kill()
            let next = try Server(installation, bench)
            return (clean, next.secondsToReady * 1000, logMegabytes)
        }
    }
}
