internal import Attribution
internal import SQLite
internal import Storage

/// Words for what a counter counts.
struct ScopeNames {
    private let apps: [Int64: String]

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT number, name FROM apps").all { ($0.integer(0), $0.text(1)) }
        apps = Dictionary(rows) { first, _ in first }
    }

    func scope(_ part: RowKeyPart) -> String {
        let (app, test) = part.number.quotientAndRemainder(dividingBy: 2)
        return (apps[app].map { "\"\($0)\"" } ?? "app \(app)") + (test == 0 ? "" : ", test")
    }

    /// For a key of `counters`.
    func counter(_ key: [RowKeyPart]) -> String {
        label(scope: key[0], campaign: key[1], dimension: key[2], value: key[5]) + ", " + span(key[3], key[4])
    }

    /// For a key of `install_delays`.
    func delay(_ key: [RowKeyPart]) -> String {
        let label = label(
            scope: key[0],
            campaign: key[1],
            dimension: .text(Array("total".utf8)),
            value: key[1]
        )
        return "times to install of \(label), \(span(key[2], key[3])), bin \(key[4].words)"
    }

    func label(scope: RowKeyPart, campaign: RowKeyPart, dimension: RowKeyPart, value: RowKeyPart) -> String {
        var words = [self.scope(scope)]
        if !campaign.words.isEmpty { words.append("campaign \"\(campaign.words)\"") }
        if dimension.words == Dimension.total.rawValue {
            words.append("total")
        } else {
            words.append("\(dimension.words) \"\(value.words)\"")
        }
        return words.joined(separator: ", ")
    }

    private func span(_ granularity: RowKeyPart, _ period: RowKeyPart) -> String {
        guard granularity.words != Granularity.all.rawValue else { return "since the beginning" }
        return "\(granularity.words) of \(Timestamp(milliseconds: period.number).iso8601)"
    }
}
