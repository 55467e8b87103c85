#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

extension QuestionKind {
    /// Returns the answer to each of a statement's questions.
    func answers(in rows: ResultRows, to count: Int) throws(PostgreSQLError) -> [RowAnswer] {
        let elements = ElementRows(rows: rows, count: count)
        switch self {
        case .install: return try elements.first { row throws(PostgreSQLError) in .click(row.get("click")) }
        case .home: return try elements.first { row throws(PostgreSQLError) in .home(try Self.home(&row)) }
        case .key:
            return try elements.all(Self.keyRow).map { found in
                // The statement reads at most `maximumRead` rows from each slot. If all slots together have fewer
                // rows, no slot has reached this limit, and no row is missing.
                .key(
                    KeyRows(
                        closed: found.compactMap(\.closed),
                        open: found.compactMap(\.open),
                        isComplete: found.count < KeyRows.maximumRead
                    )
                )
            }
        case .moreOfKey, .openClick, .openClicks:
            return try elements.all { row throws(PostgreSQLError) in try row.record(IndexRecord.self) }
                .map { .open($0) }
        case .newestClicks:
            return try elements.all { row throws(PostgreSQLError) -> Int64 in row.get("click") }
                .map { .clicks($0) }
        case .around:
            return try elements.all { row throws(PostgreSQLError) in
                let position = RowPosition(clickedAt: row.get("clicked_at"), click: row.get("click"))
                let exact: UInt64 = row.get("exact_address")
                return AddressRow(position, exact: exact, hashes: HashPrefixes(bytes: row.get("marks")))
            }.map { .around($0) }
        case .countAround:
            return try elements.first { row throws(PostgreSQLError) in
                .addressCount(near: row.get("near"), exact: row.get("exact"), oldest: row.get("oldest"))
            }
        case .liveClicks:
            return try elements.first { row throws(PostgreSQLError) in .count(row.get("count")) }
        case .learnt: return try elements.first { row throws(PostgreSQLError) in .sum(row.get("value")) }
        case .model: return try Self.models(elements)
        case .link, .linkByID: return try Self.links(elements, contents: LinkRecord.columns.names.count + 4)
        case .linksOfCampaign: return try Self.links(elements, contents: nil)
        case .linkContents:
            return try elements.all { row throws(PostgreSQLError) in
                try LinkContents(rows, row.index, firstColumn: 1)
            }.map { $0.first.map { .contents($0) } ?? .nothing }
        }
    }

    private static func home(_ row: inout ResultRow) throws(PostgreSQLError) -> ClickHome {
        let (high, low): (UInt64?, UInt64) = (row.get("link_high"), row.get("link_low"))
        let isClaimed: Bool = row.get("is_claimed")
        let click = try row.record(ClickRecord.self)
        return ClickHome(
            click,
            claim: isClaimed ? try row.record(ClaimRecord.self) : nil,
            link: high.map { LinkID(high: $0, low: low) }
        )
    }

    private static func keyRow(_ row: inout ResultRow)
        throws(PostgreSQLError) -> (closed: KeyRows.Closed?, open: IndexRecord?)
    {
        let (closedAs, closedAt): (String?, Int64) = (row.get("closed_as"), row.get("closed_at"))
        let (caller, isUndelivered): (UInt64?, Bool) = (row.get("caller"), row.get("is_undelivered"))
        let click = try row.record(IndexRecord.self)
        guard let closedAs else { return (nil, click) }
        guard let reason = NoMatchReason(rawValue: closedAs) else {
            throw PostgreSQLError(.unexpectedValue, "A click was closed for a reason that is not known.")
        }
        let closed = KeyRows.Closed(
            click.position,
            closedAt: closedAt,
            reason: reason,
            caller: caller,
            isUndelivered: isUndelivered
        )
        return (closed, nil)
    }

    private static func models(_ elements: ElementRows) throws(PostgreSQLError) -> [RowAnswer] {
        let rows = try elements.all { row throws(PostgreSQLError) in
            let epoch = LearningEpoch(began: row.get("began_at"), landmark: row.get("landmark"))
            let (family, key): (Int64?, UInt64) = (row.get("family"), row.get("key"))
            let known = family.flatMap { UInt8(exactly: $0) }.flatMap { CounterFamily(rawValue: $0) }
            return (epoch: epoch, counter: known.map { CounterKey($0, key) }, sum: row.get("value") as Double)
        }
        return rows.map { rows in
            guard let epoch = rows.first?.epoch else { return .nothing }
            var sums: [CounterKey: Double] = [:]
            for row in rows { if let counter = row.counter { sums[counter] = row.sum } }
            return .model(epoch, sums)
        }
    }

    /// Reads links; their contents start at column `firstColumn`, and are not read if it is nil.
    private static func links(_ elements: ElementRows, contents firstColumn: Int?)
        throws(PostgreSQLError) -> [RowAnswer]
    {
        let found = try elements.all { row throws(PostgreSQLError) -> (StoredLink, LinkContents?) in
            let number: Int64 = row.get("number")
            let record = try row.record(LinkRecord.self)
            let app = AppID(high: row.get("app_high"), low: row.get("app_low"))
            let contents = try firstColumn.map { column throws(PostgreSQLError) in
                try LinkContents(elements.rows, row.index, firstColumn: column)
            }
            return (StoredLink(record, number: number, app: app), contents)
        }
        return found.map { links in
            var contents: [Int64: LinkContents] = [:]
            for (link, found) in links { contents[link.number] = found }
            return .links(links.map(\.0), contents: contents)
        }
    }
}

extension LinkContents {
    /// Reads the arrays of ``QuestionStatements``, which are NULL for a link without fields or counts.
    fileprivate init(_ rows: ResultRows, _ row: Int, firstColumn column: Int) throws(PostgreSQLError) {
        func texts(_ place: Int) throws(PostgreSQLError) -> [String] {
            try rows.value(row, column + place, as: [String]?.self) ?? []
        }
        func numbers(_ place: Int) throws(PostgreSQLError) -> [Int64] {
            try rows.value(row, column + place, as: [Int64]?.self) ?? []
        }
        let fields = zip(try texts(0), try texts(1)).map { (name: $0, text: $1) }
        let (clicks, robots, matches) = (try numbers(3), try numbers(4), try numbers(5))
        var counts: [String: LinkCounts] = [:]
        for (index, variant) in try texts(2).enumerated()
        where index < min(clicks.count, robots.count, matches.count) {
            counts[variant] = LinkCounts(
                clicks: Int(clicks[index]),
                robots: Int(robots[index]),
                matches: Int(matches[index])
            )
        }
        self.init(fields: fields, counts: counts)
    }
}

/// The rows of a statement whose first column is the number of a question; the first question has number 1.
private struct ElementRows {
    let rows: ResultRows
    let count: Int

    /// Returns the value that `read` returns for the rows of each question.
    func all<Value>(_ read: (inout ResultRow) throws(PostgreSQLError) -> Value)
        throws(PostgreSQLError) -> [[Value]]
    {
        var values = Array(repeating: [Value](), count: count)
        for index in 0..<rows.count {
            var row = ResultRow(rows, index)
            let number: Int = row.get("n")
            guard (1...count).contains(number) else {
                throw PostgreSQLError(.unexpectedValue, "A result has a row that belongs to no question.")
            }
            values[number - 1].append(try read(&row))
            if let failure = row.failure { throw failure }
        }
        return values
    }

    /// Returns the value that `read` returns for the first row of each question.
    func first(_ read: (inout ResultRow) throws(PostgreSQLError) -> RowAnswer)
        throws(PostgreSQLError) -> [RowAnswer]
    { try all(read).map { $0.first ?? .nothing } }
}
#endif
