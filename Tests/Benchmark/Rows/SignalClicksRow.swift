/// Clicks that bring what a browser tells instead of a fingerprint, beside loops that do nothing but write the same
/// rows.
enum SignalClicksRow {
    static func measure(_ bench: Workbench) throws -> [Figure] {
        let plan = SeedPlan.live(bench.scale.liveClicks)
        return try [SampleDevice.iphone, .android].flatMap { device in
            let (installation, copy) = (try bench.installation(plan), try bench.installation(plan))
            let server = try Server(installation, bench)
            let template = try ClickTemplate(bench, from: device)
            guard !template.fingerprints.isEmpty else {
                throw BenchmarkError(
                    "A click of an \(device.rawValue) has no fingerprint: mend the benchmark's SampleDevice."
                )
            }
            let loop = try PlainLoop(copy.database, template)
            var batch = 1.0
            let rates = try bench.interleaved([
                { seconds in
                    let turn = try ClickLoading.turn(server, seconds, bench) {
                        .clicks(from: device, key: $0, series: $1)
                    }
                    batch = turn.batch
                    return turn.rate
                },
                { try loop.run(rowsPerCommit: max(1, Int(batch.rounded())), seconds: $0) },
            ])
            // Its folder goes with it.
            withExtendedLifetime(copy) {}
            let rows = "\(template.fingerprints.count) fingerprints in the loop's clicks"
            return [
                Figure(.clicksOfPlainLoop(from: device), rates[0], of: rates[1], note: rows),
                Figure(.clicksPerSecond(from: device), rates[0], note: try rowsOfEach(server)),
            ]
        }
    }

    /// How many rows the server has written of each click.
    private static func rowsOfEach(_ server: Server) throws -> String {
        let database = try PlainDatabase(server.installation.database)
        let newest = try database.integer("SELECT max(id) FROM clicks")
        let counts = try database.rows(
            "SELECT avg(length(fingerprints) / 16.0) FROM clicks WHERE id > \(newest - 65_536 * 2000)"
        )
        guard case .real(let mean)? = counts.first?.first else { return "" }
        return "\(NumberText.short(mean)) fingerprints each"
    }
}
