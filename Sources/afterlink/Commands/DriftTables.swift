internal import Attribution

/// The watch on match rates as a table: what has fallen, and how many groups are as usual.
struct DriftTables {
    let drift: [AppDrift]
    let directory: Directory

    /// Nil where nothing is watched.
    var text: String? {
        let readings = drift.flatMap(\.readings)
        guard !readings.isEmpty else { return nil }
        let steady = readings.count { $0.status == .steady }
        let learning = readings.count { $0.status == .learning }
        let rest = "Match rates watched: \(steady) groups as usual, \(learning) without a week of past."
        let fallen = drift.flatMap { app in
            app.readings.compactMap { reading in reading.alarm.map { row(reading, $0, of: app.app) } }
        }
        guard !fallen.isEmpty else { return rest }
        var table = Table([
            ("MATCH RATE HAS FALLEN", .left), ("APP", .left), ("USUALLY", .right), ("FELL TO", .right),
            ("LAST 7 DAYS", .right), ("SINCE ABOUT", .left),
        ])
        for row in fallen { table.add(row) }
        return table.text + "\n" + rest
    }

    private func row(_ reading: DriftReading, _ alarm: DriftAlarm, of app: AppID) -> [String] {
        [
            reading.group.title,
            directory.app(app)?.settings.name ?? app.text,
            Table.percent(alarm.usualRate),
            Table.percent(alarm.rate),
            Table.percent(reading.recent.rate),
            String(alarm.since.iso8601.prefix(10)),
        ]
    }
}
