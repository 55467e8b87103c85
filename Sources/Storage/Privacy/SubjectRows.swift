internal import Attribution

/// The rows of a subject, as one pass over the database finds them.
struct SubjectRows: Sendable {
    var scopes: [Scope] = []
    var clicks: [ClickHome] = []
    var checks: [CheckRecord] = []
    /// The stored learnt sums under hashes of these rows.
    ///
    /// Sums under a hash that another check has too are left out, unless the subject is that hash.
    var sums: Set<LearntSum> = []
    var events: [EventRecord] = []
    var installs: [AttributedInstall] = []
    var isComplete = true

    /// Whether any row is from a time or from before it.
    ///
    /// Sums have no time; they are erased with the rows that have added to them.
    func hasRows(through time: Timestamp) -> Bool {
        clicks.contains { $0.click.facts.recordedAt <= time } || checks.contains { $0.facts.at <= time }
            || events.contains { $0.receivedAt <= time }
            || installs.contains { $0.attribution.matchedAt <= time }
    }

    var counts: PrivacyCounts {
        var counts = PrivacyCounts()
        for home in clicks { counts += PrivacyCounts(of: home.click, home.claim) }
        (counts.checks, counts.sums) = (Int64(checks.count), Int64(sums.count))
        (counts.events, counts.installs) = (Int64(events.count), Int64(installs.count))
        return counts
    }

    /// The sums that launches with the hashes of these rows may have added to.
    var possibleSums: Set<LearntSum> {
        var sums: Set<LearntSum> = []
        for home in clicks {
            for hash in home.click.hashes { sums.insert(home.click.scope, .organic, hash.index) }
            sums.insert(home.click.scope, home.click.address)
        }
        for check in checks { sums.formUnion(check.sums) }
        return sums
    }
}

extension CheckRecord {
    /// The learnt sums by hash to which the check may have added.
    var sums: Set<LearntSum> {
        var sums: Set<LearntSum> = []
        for word in [facts.fingerprint?.index].compactMap(\.self) + facts.otherFingerprints {
            sums.insert(scope, .organic, word)
        }
        sums.insert(scope, facts.address)
        return sums
    }
}

extension Set<LearntSum> {
    fileprivate mutating func insert(_ scope: Scope, _ family: CounterFamily, _ word: UInt64) {
        insert(LearntSum(scope: scope, key: CounterKey(family, word)))
    }

    fileprivate mutating func insert(_ scope: Scope, _ address: AddressHashes?) {
        guard let address else { return }
        insert(scope, .launchesAtAddress, address.exact)
        insert(scope, .launchesNearAddress, address.near)
    }
}

/// Gathers the columns of a record as people read them: hashes and parts of identifiers have hexadecimal digits.
struct HeldRowWriter: RowWriter {
    private(set) var fields: [(name: String, value: HeldValue)] = []

    mutating func putInteger(_ column: StaticString, _ value: Int64?) {
        // Some columns of flags have more than two values; people see true for each value except 0.
        let isFlag = column.description.hasPrefix("is_")
        add(column, value.map { isFlag ? .flag($0 != 0) : .integer($0) } ?? .none)
    }

    mutating func putWord(_ column: StaticString, _ value: UInt64?) {
        let digits = value.map { String($0, radix: 16) }
        let text = digits.map { String(repeating: "0", count: 16 - $0.utf8.count) + $0 }
        add(column, text.map { .text($0) } ?? .none)
    }

    mutating func putFlag(_ column: StaticString, _ value: Bool) { add(column, .flag(value)) }

    mutating func putTime(_ column: StaticString, _ value: Timestamp?) {
        add(column, value.map { .text($0.iso8601) } ?? .none)
    }

    mutating func putReal(_ column: StaticString, _ value: Double?) {
        add(column, value.map { .real($0) } ?? .none)
    }

    mutating func putText(_ column: StaticString, _ value: String?) {
        add(column, value.map { .text($0) } ?? .none)
    }

    mutating func putBytes(_ column: StaticString, _ value: [UInt8]?) {
        add(column, value.map { .text(Hexadecimal.text(of: $0)) } ?? .none)
    }

    private mutating func add(_ column: StaticString, _ value: HeldValue) {
        fields.append((column.description, value))
    }

    /// Returns the columns of a record as a row of a table, whose first field is the identifier.
    static func row(_ record: some Record, of table: String, _ id: String, _ scope: Scope) -> HeldRow {
        var writer = HeldRowWriter()
        record.write(to: &writer)
        let fields = [(name: "identifier", value: HeldValue.text(id))] + writer.fields
        return HeldRow(table: table, isTest: scope.isTest, fields: fields)
    }
}
