public import Attribution

/// A bounded step of an erasure: what one transaction deletes, and the record to which it adds.
public struct ErasureSlice: Sendable {
    let record: Erasure
    /// The scopes to which the rows belong.
    let scopes: [Scope]
    /// The app's windows.
    let windows: MethodWindows
    public var clicks: [Int64] = []
    var checks: [CheckID] = []
    var sums: [LearntSum] = []
    var events: [EventRecord] = []
    /// Matches to which events are credited.
    var installs: [AttributedInstall] = []
    /// Whether this is the last step of a pass; earlier steps have deleted the pass's clicks.
    public var isLast = false
    /// Where the last step of a pass continues; see ``ErasureWriter/finishErasure(of:from:)``.
    var position: Int64 = 0
    /// Whether the erasure has ended, so that it is recorded in the audit log and the outbox.
    var isComplete = false
}

/// A learnt counter of a scope.
struct LearntSum: Hashable, Sendable {
    let scope: Scope
    let key: CounterKey

    /// The key as it is stored.
    var number: Int64 { Int64(bitPattern: key.key) }
}

/// The statements that erase.
public protocol ErasureWriter: EventWriter {
    /// Deletes a click and every row that refers to it; returns whether the click could be matched before.
    func erase(_ click: ClickRecord, _ claim: ClaimRecord?) throws(Failure) -> Bool
    /// Deletes records of checks; returns how many.
    func erase(_ checks: [CheckID]) throws(Failure) -> Int64
    /// Ends the erasure of clicks.
    ///
    /// A database deletes rows here that only a search of a whole table finds. Each call searches a part of the table,
    /// because other writes wait meanwhile; the first part starts at 0.
    ///
    /// - Returns: the start of the next part; nil after the last one.
    func finishErasure(of clicks: [Int64], from position: Int64) throws(Failure) -> Int64?
    /// Stores the names of erased rows (table and id), for exports.
    func insert(_ rows: [ErasedRecord]) throws(Failure)
    /// Returns the largest number of an erased row; 0 if there is no such row.
    ///
    /// It is called only where ``StoreRules/readsNewestClicks`` is true; elsewhere each server makes numbers of its own.
    func newestErasedRow() throws(Failure) -> Int64
    /// Stores a record, or adds its counts to the stored one.
    func add(_ record: ErasureRecord) throws(Failure)
    /// Deletes records of erasures from before a time, and up to `limit` names of rows that were erased before it.
    ///
    /// Returns whether there may be more names.
    func removeErasures(before time: Timestamp, atMost limit: Int64) throws(Failure) -> Bool
}

extension ErasureWriter {
    public func finishErasure(of clicks: [Int64], from position: Int64) -> Int64? { nil }
    public func newestErasedRow() -> Int64 { 0 }
}

/// The reads of an erasure, and of what is stored about a person.
public protocol PrivacyRows {
    associatedtype Failure: Error

    func home(ofClick number: UInt64) throws(Failure) -> ClickHome?
    /// Returns the clicks that an installation has claimed, from a part of the stored clicks; the first part starts at 0.
    ///
    /// - Returns: the clicks, and the start of the next part; nil after the last one.
    func clicks(ofInstall install: KeyedHash, in scope: Scope, from position: Int64)
        throws(Failure) -> (clicks: [UInt64], next: Int64?)
    /// Returns the learnt sums of a family whose keys are greater than `key`, in the order of their keys.
    func learntSums(of scope: Scope, _ family: CounterFamily, after key: Int64, atMost limit: Int)
        throws(Failure) -> [(key: Int64, sum: Double)]
    /// Returns the newest records of erasures, the newest first.
    func erasures(atMost limit: Int) throws(Failure) -> [ErasureRecord]
    /// Returns the tables with personal data, and how much each of them stores.
    func holdings() throws(Failure) -> [TableHolding]
}

extension WriteTransaction {
    /// Deletes the rows of a slice, stores their names, and adds their counts to the record.
    func perform(_ slice: ErasureSlice) throws(Failure) -> Written {
        var record = slice.record
        record.counts = PrivacyCounts()
        var (erased, ended): ([ClickID], [(scope: Scope, at: Timestamp)]) = ([], [])
        for number in slice.isLast ? [] : slice.clicks {
            guard let click = try reader.click(numbered: number), slice.scopes.contains(click.scope) else {
                continue
            }
            let claim = try reader.claim(ofClick: number)
            let end = slice.windows.fingerprintEnd(of: click.facts)
            let wasOpen = try writer.erase(click, claim)
            if wasOpen, !click.isCounted, end >= record.at { ended.append((click.scope, end)) }
            try removePostbacks(of: click, claim)
            record.counts += PrivacyCounts(of: click, claim)
            erased.append(click.id)
        }
        try name(erased.map { ($0.high, $0.low) }, of: .clicks, record.app, at: record.at)
        if !slice.checks.isEmpty {
            record.counts.checks = try writer.erase(slice.checks)
            try name(slice.checks.map { ($0.high, $0.low) }, of: .checks, record.app, at: record.at)
            try writer.add(-record.counts.checks, to: .keptChecks)
        }
        for sum in slice.sums {
            try writer.removeCounter(sum.number, sum.key.family, of: sum.scope)
            record.counts.sums += 1
        }
        if !slice.events.isEmpty {
            record.counts.events = try writer.eraseEvents(slice.events.map(\.number))
            let numbers = slice.events.map { (UInt64(bitPattern: $0.number), 0 as UInt64) }
            try name(numbers, of: .events, record.app, at: record.at)
            for event in slice.events { try removePostbacks(of: event) }
        }
        if !slice.installs.isEmpty {
            record.counts.installs = try writer.eraseInstalls(ofClicks: slice.installs.map(\.number))
            // Retention may have deleted the clicks, but not yet the events of the outbox that are about
            // them.
            for match in slice.installs { try removePostbacks(of: match) }
        }
        let next = slice.isLast ? try writer.finishErasure(of: slice.clicks, from: slice.position) : nil
        if slice.isComplete {
            let kind = AuditFields([(name: "kind", texts: [record.kind.rawValue])])
            try note(AuditedChange(.erase, app: record.app, of: record.id.text, to: kind), by: record.actor)
            if let scope = slice.scopes.first(where: { !$0.isTest }) {
                try publish(scope, at: record.at) { [record] _ in .erasure(record) }
            }
        }
        try writer.add(ErasureRecord(record))
        if record.counts.clicks > 0 || record.counts.checks > 0 { memory.values.hasDeleted = true }
        memory.totals.removeLive(ended)
        return .erased(record.counts, next: next)
    }

    /// Stores the names of erased rows under numbers of the current time, so that an export that is running ends before
    /// these numbers.
    func name(
        _ rows: [(high: UInt64, low: UInt64)],
        of table: ExportTable,
        _ app: AppID,
        at time: Timestamp
    ) throws(Failure) {
        guard !rows.isEmpty else { return }
        let now = state.configuration.clock.now()
        let newest = Rules.readsNewestClicks ? try writer.newestErasedRow() : 0
        var number = max(last(memory.numbers.erased, at: now), newest)
        let records = rows.map { high, low in
            number = numbers.check(after: number, at: now)
            return ErasedRecord(ErasedRow(number, of: table, high: high, low: low, app: app, at: time))
        }
        memory.numbers.erased.value = number
        try writer.insert(records)
    }
}

extension PrivacyCounts {
    /// Counts the rows of a click.
    init(of click: ClickRecord, _ claim: ClaimRecord?) {
        self.init()
        (clicks, hashes) = (1, Int64(click.hashes.count))
        addresses = click.address == nil ? 0 : 1
        claims = claim == nil ? 0 : 1
    }
}

/// A row of `erasures`.
public struct ErasureRecord: Record, Equatable, Sendable {
    public let erasure: Erasure

    public init(_ erasure: Erasure) { self.erasure = erasure }

    public static let columns: Columns = [
        "id_high", "id_low", "erased_at", "app_high", "app_low", "kind", "actor", "clicks", "click_index",
        "click_addresses", "claims", "checks", "learnt_counters", "events", "attributed_installs",
    ]

    public func write(to row: inout some RowWriter) {
        let counts = erasure.counts
        row.put("id_high", erasure.id.high)
        row.put("id_low", erasure.id.low)
        row.put("erased_at", erasure.at)
        row.put("app_high", erasure.app.high)
        row.put("app_low", erasure.app.low)
        row.put("kind", erasure.kind)
        row.put("actor", erasure.actor.text)
        row.put("clicks", counts.clicks)
        row.put("click_index", counts.hashes)
        row.put("click_addresses", counts.addresses)
        row.put("claims", counts.claims)
        row.put("checks", counts.checks)
        row.put("learnt_counters", counts.sums)
        row.put("events", counts.events)
        row.put("attributed_installs", counts.installs)
    }

    public init?(_ row: inout some RowReader) {
        let id = ErasureID(high: row.get("id_high"), low: row.get("id_low"))
        let at: Timestamp = row.get("erased_at")
        let app = AppID(high: row.get("app_high"), low: row.get("app_low"))
        guard let kind: SubjectKind = row.get("kind"), let actor = AuditActor(text: row.get("actor")) else {
            return nil
        }
        var erasure = Erasure(id: id, at: at, app: app, kind: kind, actor: actor)
        erasure.counts.clicks = row.get("clicks")
        erasure.counts.hashes = row.get("click_index")
        erasure.counts.addresses = row.get("click_addresses")
        erasure.counts.claims = row.get("claims")
        erasure.counts.checks = row.get("checks")
        erasure.counts.sums = row.get("learnt_counters")
        erasure.counts.events = row.get("events")
        erasure.counts.installs = row.get("attributed_installs")
        self.erasure = erasure
    }
}

/// A row of `erased_rows`.
public struct ErasedRecord: Record, Equatable, Sendable {
    public let row: ErasedRow

    public init(_ row: ErasedRow) { self.row = row }

    public static let columns: Columns = [
        "number", "table_name", "id", "id_low", "app_high", "app_low", "erased_at",
    ]

    public func write(to writer: inout some RowWriter) {
        writer.put("number", row.number)
        writer.put("table_name", row.table)
        writer.put("id", row.high)
        writer.put("id_low", row.low)
        writer.put("app_high", row.app.high)
        writer.put("app_low", row.app.low)
        writer.put("erased_at", row.at)
    }

    public init?(_ reader: inout some RowReader) {
        let number: Int64 = reader.get("number")
        guard let table: ExportTable = reader.get("table_name") else { return nil }
        let (high, low): (UInt64, UInt64) = (reader.get("id"), reader.get("id_low"))
        let app = AppID(high: reader.get("app_high"), low: reader.get("app_low"))
        row = ErasedRow(number, of: table, high: high, low: low, app: app, at: reader.get("erased_at"))
    }
}
