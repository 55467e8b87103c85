internal import Attribution
internal import SQLite
internal import Storage

/// Writes events, and the matches that events are credited to.
extension SQLiteWriter {
    func insert(_ install: AttributedInstall) throws(SQLiteError) {
        try connection.statement(Self.insertInstall).run(install)
    }

    private static let insertInstall: SQL = """
        \(SQL.insert("attributed_installs", AttributedInstall.columns))
        ON CONFLICT DO UPDATE SET install = excluded.install, install_rest = excluded.install_rest
        """

    func releaseEvents(_ ids: [String], in scope: Scope, receivedBefore time: Timestamp)
        throws(SQLiteError)
    {
        for id in ids { try connection.statement(Self.release).run(scope.number, id, time.milliseconds) }
    }

    static let release: SQL = """
        UPDATE events SET event_id = event_id || char(31) || number
        WHERE scope = ?1 AND event_id = ?2 AND received_at < ?3
        """

    func insert(_ events: [EventRecord]) throws(SQLiteError) -> Set<String> {
        var accepted: Set<String> = []
        for event in events {
            try connection.statement(Self.insertEvent).run(event)
            if connection.changeCount > 0 { accepted.insert(event.eventID) }
        }
        return accepted
    }

    private static let insertEvent: SQL = """
        \(SQL.insert("events", EventRecord.columns)) ON CONFLICT (scope, event_id) DO NOTHING
        """

    func takeBack(_ ids: [String], in scope: Scope) throws(SQLiteError) -> [EventRecord] {
        var taken: [EventRecord] = []
        for id in ids {
            taken += try connection.statement(Self.takeBack).all(EventRecord.self, scope.number, id)
        }
        return taken
    }

    static let takeBack: SQL = """
        DELETE FROM events WHERE scope = ?1 AND event_id = ?2 AND is_verified = 0 RETURNING \(EventRecord.columns)
        """

    func credit(_ events: [EventRecord]) throws(SQLiteError) {
        for event in events { try connection.statement(Self.credit).run(event) }
    }

    private static let credit = SQL.update("events", EventRecord.columns, where: "number = ?1")

    func eraseEvents(_ numbers: [Int64]) throws(SQLiteError) -> Int64 {
        var count: Int64 = 0
        for number in numbers {
            try connection.statement("DELETE FROM events WHERE number = ?1").run(number)
            count += connection.changeCount
        }
        return count
    }

    func eraseInstalls(ofClicks clicks: [Int64]) throws(SQLiteError) -> Int64 {
        var count: Int64 = 0
        for click in clicks {
            try connection.statement("DELETE FROM attributed_installs WHERE click = ?1").run(click)
            count += connection.changeCount
        }
        return count
    }

    func removeEvents(before time: Timestamp, atMost limit: Int64) throws(SQLiteError) -> Bool {
        try connection.statement(Self.removeEvents).run(RowIdentifier.first(at: time), limit)
        let events = connection.changeCount
        try connection.statement(Self.removeInstalls).run(time.milliseconds, limit)
        return max(events, connection.changeCount) >= limit
    }

    static let removeEvents: SQL = """
        DELETE FROM events WHERE number IN (SELECT number FROM events WHERE number < ?1 ORDER BY number LIMIT ?2)
        """
    static let removeInstalls: SQL = """
        DELETE FROM attributed_installs WHERE click IN
            (SELECT click FROM attributed_installs WHERE matched_at < ?1 ORDER BY matched_at LIMIT ?2)
        """
}

/// Reads events, and the matches that events are credited to.
extension SQLiteReader: EventRows {
    func attributedInstalls(_ subjects: EventSubjects) throws(SQLiteError) -> [AttributedInstall] {
        var found: [AttributedInstall] = []
        for install in Set(subjects.installs) {
            found += try connection.statement(Self.installsByID)
                .all(AttributedInstall.self, subjects.scope.number, install.index)
                .filter { $0.install == install }
        }
        // The number of the click is the key of the table, so each of these clicks finds at most one match.
        for click in Set(subjects.clicks).subtracting(found.map(\.number)) {
            found += try connection.statement(Self.installsByClick)
                .all(AttributedInstall.self, subjects.scope.number, click)
        }
        return found.sorted { $0.attribution.matchedAt > $1.attribution.matchedAt }
    }

    static let installsByID: SQL = """
        SELECT \(AttributedInstall.columns) FROM attributed_installs WHERE scope = ?1 AND install = ?2
        ORDER BY matched_at DESC LIMIT 100
        """
    private static let installsByClick: SQL = """
        SELECT \(AttributedInstall.columns) FROM attributed_installs WHERE click = ?2 AND scope = ?1
        """

    func events(of subjects: EventSubjects, onlyWaiting: Bool, atMost limit: Int) throws(SQLiteError)
        -> [EventRecord]
    {
        var found: [Int64: EventRecord] = [:]
        func add(_ sql: (waiting: SQL, all: SQL), _ key: Int64, where isWanted: (EventRecord) -> Bool)
            throws(SQLiteError)
        {
            let events = try connection.statement(onlyWaiting ? sql.waiting : sql.all)
                .all(EventRecord.self, subjects.scope.number, key, limit)
            for event in events where isWanted(event) { found[event.number] = event }
        }
        for hash in Set(subjects.installs) {
            try add(Self.ofInstall, Int64(bitPattern: hash.index)) { $0.install == hash }
        }
        for hash in Set(subjects.users) {
            try add(Self.ofUser, Int64(bitPattern: hash.index)) { $0.user == hash }
        }
        for click in Set(subjects.clicks) {
            try add(Self.ofNamedClick, click) { _ in true }
            if !onlyWaiting { try add(Self.ofClick, click) { _ in true } }
        }
        return found.values.sorted { $0.number < $1.number }.prefix(limit).map(\.self)
    }

    static let ofInstall = selects("install")
    static let ofUser = selects("user_hash")
    static let ofNamedClick = selects("named_click")
    static let ofClick = selects("click")

    private static func selects(_ column: StaticString) -> (waiting: SQL, all: SQL) {
        (
            "\(selectEvents) WHERE scope = ?1 AND \(column) = ?2 AND click IS NULL AND purchase IS NULL LIMIT ?3",
            "\(selectEvents) WHERE scope = ?1 AND \(column) = ?2 LIMIT ?3"
        )
    }

    private static let selectEvents: SQL = "SELECT \(EventRecord.columns) FROM events"

    func events(ofClick click: Int64, in scope: Scope, atMost limit: Int) throws(SQLiteError) -> [EventRecord]
    { try connection.statement(Self.ofClick.all).all(EventRecord.self, scope.number, click, limit) }

    func links(ofUsers users: [KeyedHash], in scope: Scope) throws(SQLiteError) -> [EventRecord] {
        var found: [EventRecord] = []
        for user in Set(users) {
            let (scope, index) = (scope.number, Int64(bitPattern: user.index))
            let verified = try connection.statement(Self.verifiedLink).all(EventRecord.self, scope, index)
            found +=
                verified.isEmpty
                ? try connection.statement(Self.firstLink).all(EventRecord.self, scope, index) : verified
        }
        return found.filter { $0.user.map(users.contains) ?? false }
    }

    static let verifiedLink: SQL = "\(linkingEvents) AND is_verified = 1 ORDER BY number DESC LIMIT 1"
    static let firstLink: SQL = "\(linkingEvents) AND is_verified = 0 ORDER BY number LIMIT 1"
    private static let linkingEvents: SQL = """
        \(selectEvents) INDEXED BY links_of_users WHERE scope = ?1 AND user_hash = ?2 AND click IS NOT NULL AND purchase IS NULL
            AND (install IS NOT NULL OR named_click IS NOT NULL)
        """

    func events(named ids: [String], in scope: Scope) throws(SQLiteError) -> [EventRecord] {
        try events(Self.named, of: ids, in: scope)
    }

    static let named: SQL = "\(selectEvents) WHERE scope = ?1 AND event_id = ?2"

    func refunds(ofPurchases ids: [String], in scope: Scope) throws(SQLiteError) -> [EventRecord] {
        try events(Self.refunds, of: ids, in: scope)
    }

    static let refunds: SQL = "\(selectEvents) WHERE scope = ?1 AND purchase = ?2 AND click IS NULL LIMIT 100"

    private func events(_ statement: SQL, of ids: [String], in scope: Scope) throws(SQLiteError)
        -> [EventRecord]
    {
        var found: [EventRecord] = []
        for id in ids { found += try connection.statement(statement).all(EventRecord.self, scope.number, id) }
        return found
    }

    func eventNames(ofClicks clicks: [Int64]) throws(SQLiteError) -> Set<EventOfClick> {
        var names: Set<EventOfClick> = []
        for click in clicks {
            try connection.statement(Self.names).forEach(click) { row in
                names.insert(EventOfClick(click: click, name: row.text(0)))
            }
        }
        return names
    }

    static let names: SQL = "SELECT DISTINCT name FROM events WHERE click = ?1"

    func exportedEvents(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(SQLiteError) -> [EventRecord]
    {
        try connection.statement(Self.exported)
            .all(EventRecord.self, numbers.lowerBound, numbers.upperBound, limit)
    }

    static let exported: SQL = """
        \(selectEvents) WHERE number >= ?1 AND number <= ?2 ORDER BY number LIMIT ?3
        """

    func newestEvent() throws(SQLiteError) -> Int64 {
        try connection.integer("SELECT ifnull(max(number), 0) FROM events")
    }
}
