public import Attribution

/// An open row of `click_index`: a click that can be matched.
public struct IndexRecord: Record, Equatable, Sendable {
    /// The click's number.
    public let click: Int64
    public let clickedAt: Timestamp
    /// The last millisecond of its window.
    public let expiresAt: Timestamp
    /// The first word of the hash of the click's visit.
    public let visit: UInt64
    /// ``PlatformForm/code``; for an advertising id, the platform and the first letter of its kind.
    private let platformFormCode: UInt64
    public let weight: Double
    public let address: AddressHashes?
    /// 0 if it is unknown.
    public let visitor: UInt64
    public let destination: CreditedDestination
    public let release: OSRelease?
    /// Hashes of the signals that the row's fingerprint does not contain.
    public let signals: SignalHashes

    public static let columns: Columns = [
        "click", "since", "expires_at", "visit", "platform_form", "weight", "exact_address", "near_address",
        "visitor", "destination", "campaign", "os_release", "signal_marks",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("click", click)
        row.put("since", clickedAt)
        row.put("expires_at", expiresAt)
        row.put("visit", visit)
        row.put("platform_form", platformFormCode)
        row.put("weight", weight)
        row.put("exact_address", "near_address", address)
        row.put("visitor", visitor)
        row.put("destination", destination.url)
        row.put("campaign", destination.campaign)
        row.put("os_release", release?.code)
        row.put("signal_marks", signals.isEmpty ? nil : signals.word)
    }

    public init?(_ row: inout some RowReader) {
        click = row.get("click")
        clickedAt = row.get("since")
        expiresAt = row.get("expires_at")
        visit = row.get("visit")
        platformFormCode = row.get("platform_form")
        weight = row.get("weight")
        address = row.get("exact_address", "near_address")
        visitor = row.get("visitor")
        destination = CreditedDestination(url: row.get("destination"), campaign: row.get("campaign"))
        release = (row.get("os_release") as UInt64?).flatMap { OSRelease(code: $0) }
        // NULL is 0, which means no signals.
        signals = SignalHashes(word: row.get("signal_marks"))
    }

    /// Creates the record of a click in a replay.
    init(
        _ recorded: RecordedClick,
        _ click: Int64,
        _ fingerprint: RecordedFingerprint,
        expiresAt: Timestamp
    ) {
        self.click = click
        clickedAt = recorded.at
        self.expiresAt = expiresAt
        visit = recorded.visit ?? 0
        platformFormCode = PlatformForm(platform: recorded.platform, form: fingerprint.form).code
        weight = fingerprint.weight
        address = recorded.address
        visitor = recorded.visitor
        destination = recorded.destination
        release = fingerprint.release
        signals = recorded.signals.excludingComponents(of: fingerprint.form)
    }

    fileprivate init(
        _ new: NewClick,
        _ click: Int64,
        platformFormCode: UInt64,
        weight: Double = 1,
        release: OSRelease? = nil,
        signals: SignalHashes = .none
    ) {
        self.click = click
        clickedAt = new.facts.clickedAt
        expiresAt = new.facts.expiresAt
        visit = new.visit.index
        (self.platformFormCode, self.weight) = (platformFormCode, weight)
        address = new.evidence.address
        visitor = new.evidence.visitor
        destination = CreditedDestination(new.facts)
        (self.release, self.signals) = (release, signals)
    }

    /// Platform and form; the form is nil for an advertising id, and for a fingerprint that the client sent as a hash.
    public var platformForm: PlatformForm {
        PlatformForm(code: platformFormCode) ?? PlatformForm(platform: .unknown, form: nil)
    }

    public var position: RowPosition { RowPosition(clickedAt: clickedAt.milliseconds, click: click) }

    public func candidate(_ agreement: AddressAgreement) -> Candidate {
        let platformForm = platformForm
        var candidate = Candidate(
            // The first half of an identifier is enough to find a click.
            click: ClickID(high: UInt64(bitPattern: click), low: 0),
            clickedAt: clickedAt,
            destination: destination,
            platform: platformForm.platform,
            form: platformForm.form,
            visitor: visitor
        )
        candidate.weight = weight
        candidate.address = agreement
        candidate.hasAddress = address != nil
        candidate.release = release
        candidate.signals = signals
        return candidate
    }
}

/// A click's position among the clicks of its hash.
public struct RowPosition: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970.
    public let clickedAt: Int64
    /// The click's number.
    public let click: Int64

    public init(clickedAt: Int64, click: Int64) { (self.clickedAt, self.click) = (clickedAt, click) }

    public static func < (left: RowPosition, right: RowPosition) -> Bool {
        (left.clickedAt, left.click) < (right.clickedAt, right.click)
    }
}

/// An open row of `click_index`, with the hash that finds it.
public struct IndexEntry: Record, Equatable, Sendable {
    public let scope: Scope
    public let hash: KeyedHash
    public let record: IndexRecord

    private static let openState: Int64 = 0

    public static let columns: Columns = ["scope", "hash", "hash_rest", "state"] + IndexRecord.columns

    public func write(to row: inout some RowWriter) {
        row.put("scope", scope.number)
        row.put("hash", "hash_rest", hash)
        row.put("state", Self.openState)
        record.write(to: &row)
    }

    public init?(_ row: inout some RowReader) {
        scope = Scope(number: row.get("scope"))
        hash = row.get("hash", "hash_rest")
        let state: Int64 = row.get("state")
        guard state == Self.openState, let record = IndexRecord(&row) else { return nil }
        self.record = record
    }

    private init(_ scope: Scope, _ hash: KeyedHash, _ record: IndexRecord) {
        (self.scope, self.hash, self.record) = (scope, hash, record)
    }

    /// Returns one row for each different hash that finds the click; two forms may make the same fingerprint.
    public static func all(of new: NewClick, _ click: Int64, in scope: Scope) -> [IndexEntry] {
        var seen: Set<UInt64> = []
        var entries: [IndexEntry] = []
        entries.reserveCapacity(new.fingerprints.count + new.evidence.advertisingIDs.count)
        for entry in new.fingerprints
        where new.fingerprints.count == 1 || seen.insert(entry.key.index).inserted {
            let record = IndexRecord(
                new,
                click,
                platformFormCode: PlatformForm(platform: new.facts.platform, form: entry.form).code,
                weight: entry.weight,
                release: entry.release,
                signals: new.evidence.signals.excludingComponents(of: entry.form)
            )
            entries.append(IndexEntry(scope, entry.key, record))
        }
        let platform = PlatformForm(platform: new.facts.platform, form: nil).code
        for id in new.evidence.advertisingIDs {
            let code = platform | UInt64(id.kind.rawValue.utf8.first ?? 0)
            entries.append(IndexEntry(scope, id.key, IndexRecord(new, click, platformFormCode: code)))
        }
        return entries
    }
}
