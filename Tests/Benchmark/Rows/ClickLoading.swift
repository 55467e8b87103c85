/// Clicks as fast as they can be put on disk.
enum ClickLoading {
    /// Clicks a second, and how many of them the server put into one commit; `script` makes them for a key and a
    /// series.
    static func turn(
        _ server: Server,
        _ seconds: Double,
        _ bench: Workbench,
        _ script: (_ key: String, _ series: UInt32) -> WrkScript
    ) throws -> (rate: Double, batch: Double) {
        let before = try server.metrics()
        let result = try Wrk(
            script: script(server.installation.keys.app, bench.nextSeries()),
            connections: 256
        )
        .run(port: server.port, seconds: seconds, bench)
        let after = try server.metrics()
        // Of clicks that bring signals, a very few have the values and the address of another one.
        guard try after.growth(of: "afterlink_clicks_total", since: before) >= result.requests * 0.99 else {
            throw BenchmarkError("The server acknowledged clicks that it has not counted.")
        }
        let sum = try after.growth(of: "afterlink_store_batch_size_sum", since: before)
        let count = try after.growth(of: "afterlink_store_batch_size_count", since: before)
        return (result.perSecond, sum / max(count, 1))
    }
}
