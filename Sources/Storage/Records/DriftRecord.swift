public import Attribution

/// A row of `drift_groups`: the result of the last evaluation of a group whose match rate is watched.
public struct DriftRecord: Record, Equatable, Sendable {
    public let scope: Scope
    public let reading: DriftReading

    public init(_ reading: DriftReading, of scope: Scope) { (self.scope, self.reading) = (scope, reading) }

    public static let columns: Columns = [
        "scope", "side", "name", "trials", "matches", "usual_rate", "since", "began", "fallen_rate",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("scope", scope.number)
        row.put("side", reading.group.side)
        row.put("name", reading.group.name)
        row.put("trials", reading.recent.trials)
        row.put("matches", reading.recent.matches)
        row.put("usual_rate", reading.usualRate)
        row.put("since", reading.alarm?.since)
        row.put("began", reading.alarm?.began)
        row.put("fallen_rate", reading.alarm?.rate)
    }

    public init?(_ row: inout some RowReader) {
        scope = Scope(number: row.get("scope"))
        let side: DriftSide? = row.get("side")
        let name: String = row.get("name")
        guard let side, let group = DriftGroup(side, name: name) else { return nil }
        let recent = DriftCount(trials: row.get("trials"), matches: row.get("matches"))
        let usualRate: Double? = row.get("usual_rate")
        let since: Timestamp? = row.get("since")
        let began: Timestamp? = row.get("began")
        let rate: Double = row.get("fallen_rate")
        let alarm = began.map {
            DriftAlarm(group: group, since: since ?? $0, began: $0, usualRate: usualRate ?? 0, rate: rate)
        }
        reading = DriftReading(group: group, recent: recent, usualRate: usualRate, alarm: alarm)
    }
}
