public import Attribution

/// Reads the clicks, claims and checks that explain the result of a check, or why no check got a click.
public protocol ExplanationRows {
    associatedtype Failure: Error

    /// Returns the first half of the identifier of the newest record that a search finds among the newest `limit` records.
    func newestCheck(_ search: CheckSearch, among limit: Int) throws(Failure) -> UInt64?
    /// Searches for a click's match among the first `limit` records from a time on; returns the first half of the
    /// record's identifier.
    func match(of click: ClickID, from time: Timestamp, among limit: Int) throws(Failure) -> UInt64?
    /// Returns when a click was claimed; nil if it was not.
    func claimTime(of click: ClickID) throws(Failure) -> Timestamp?

    /// Returns the click whose identifier has this first half.
    func claimedClick(_ number: UInt64) throws(Failure) -> ClaimedClick?
    /// Returns the newest open or closed clicks of a key, with the reason why they were closed.
    func indexedClicks(of key: KeyedHash, _ scope: Scope, areOpen: Bool, atMost limit: Int) throws(Failure)
        -> [(click: UInt64, closedAs: String?)]
    /// Returns whether the index contains a click under the first hash of its record, and the reason why it was closed.
    func indexState(of click: ClaimedClick) throws(Failure) -> (isIndexed: Bool, closedAs: String?)
    /// Passes traces of checks of all scopes to `body`, oldest first, at most `limit`.
    func checkTraces(from: Timestamp, before: Timestamp, atMost limit: Int, _ body: (CheckTrace) -> Void)
        throws(Failure)
}

/// A click, with the time and the method of the claim that consumed it.
public struct ClaimedClick: Sendable {
    public let record: ClickRecord
    public let claimedAt: Timestamp?
    public let method: AttributionMethod?

    public init(_ record: ClickRecord, claimedAt: Timestamp?, method: AttributionMethod?) {
        (self.record, self.claimedAt, self.method) = (record, claimedAt, method)
    }

    /// Creates a click from its record and from the columns `claimed_at` and `method`.
    public init(_ record: ClickRecord, _ row: inout some RowReader) {
        self.init(record, claimedAt: row.get("claimed_at"), method: row.get("method"))
    }
}

/// The value by which a check's record is searched.
public enum CheckSearch: Sendable {
    case request(String)
    case fingerprint(KeyedHash)
    case click(ClickID)
}

/// The columns of a check's record that relate it to a click.
public struct CheckTrace: Sendable {
    /// The first half of the record's identifier.
    public let id: UInt64
    public let scope: Scope
    /// The first half of the identifier of the credited click, or, without a match, of the most likely one.
    public let click: UInt64?
    /// The first halves of the identifiers of the clicks that were weighed.
    public let weighed: [UInt64]
    public let fingerprint: UInt64?
    public let exactAddress: UInt64?
    public let nearAddress: UInt64?

    public static let columns: Columns = [
        "id", "scope", "click", "shares", "fingerprint", "exact_address", "near_address",
    ]

    public init(_ row: inout some RowReader) {
        id = row.get("id")
        scope = Scope(number: row.get("scope"))
        click = row.get("click")
        weighed = CheckRecord.unpackedShares(row.get("shares")).map(\.click.high)
        fingerprint = row.get("fingerprint")
        exactAddress = row.get("exact_address")
        nearAddress = row.get("near_address")
    }
}

/// Reads the facts that explain how a check ended.
private struct ExplanationReader<Reader: ReportReader> {
    let reader: Reader
    let apps: CheckedApps

    /// The maximum number of records that a search without the record's identifier reads.
    private static var searched: Int { 2_000_000 }
    /// The maximum number of records since a claim that are searched for its match.
    private static var searchedAfterClaim: Int { 50_000 }
    /// The maximum number of clicks of all apps that are read to find recent clicks of the app.
    private static var recentScanned: Int { 20_000 }

    func material(of reference: CheckReference) throws(Reader.Failure) -> ExplanationInput? {
        guard let id = try find(reference), let row = try reader.check(id), let record = apps.check(row)
        else { return nil }
        if case .check(let wanted) = reference, wanted != record.id { return nil }
        var input = ExplanationInput(record: record)
        input.sameFingerprint = try sameFingerprint(row)
        input.named = try named(row)
        input.recent = try recent(row.record).map { KnownClick($0, seenFrom: record.facts.address) }
        return input
    }

    /// Returns the newest clicks with signals of a check's app, without those of robots.
    private func recent(_ check: CheckRecord) throws(Reader.Failure) -> [ClaimedClick] {
        // Numbers contain the time of recording, which may be a little later than the click.
        let end = RowIdentifier.first(at: check.facts.at.advanced(byMilliseconds: 1000))
        let limit = ExplanationInput.recentLimit
        var walk = PageWalk<ClaimedClick, Int64>(limit: limit, rowLimit: Self.recentScanned)
        try reader.clicks(NumberedRows(.descending, through: end - 1)) { click, _ in
            let record = click.record
            let isWanted = record.scope == check.scope && record.canonicalText != nil && !record.facts.isRobot
            return walk.add(isWanted ? click : nil, at: record.number)
        }
        return walk.elements
    }

    private func find(_ reference: CheckReference) throws(Reader.Failure) -> UInt64? {
        switch reference {
        case .check(let id): return id.high
        case .click(let click):
            if let claimedAt = try reader.claimTime(of: click),
                let found = try reader.match(of: click, from: claimedAt, among: Self.searchedAfterClaim)
            {
                return found
            }
            return try reader.newestCheck(.click(click), among: Self.searched)
        case .request(let text): return try reader.newestCheck(.request(text), among: Self.searched)
        case .fingerprint(let keys):
            for key in keys {
                if let found = try reader.newestCheck(.fingerprint(key), among: Self.searched) {
                    return found
                }
            }
            return nil
        }
    }

    private func sameFingerprint(_ row: JoinedCheck) throws(Reader.Failure) -> [KnownClick] {
        guard let key = row.record.facts.fingerprint else { return [] }
        var clicks: [KnownClick] = []
        for areOpen in [true, false] {
            let limit = ExplanationInput.sameFingerprintLimit
            for found in try reader.indexedClicks(of: key, row.record.scope, areOpen: areOpen, atMost: limit)
            {
                guard let click = try reader.claimedClick(found.click) else { continue }
                var known = KnownClick(click, seenFrom: row.record.facts.address)
                known.isRetired = known.isRetired(closedAs: found.closedAs)
                clicks.append(known)
            }
        }
        return clicks.sorted { ($0.clickedAt, $0.id) > ($1.clickedAt, $1.id) }
    }

    private func named(_ row: JoinedCheck) throws(Reader.Failure) -> [KnownClick] {
        let facts = row.record.facts
        var clicks: [KnownClick] = []
        for id in [facts.click].compactMap(\.self) + facts.shares.map(\.click)
        where !clicks.contains(where: { $0.id.high == id.high }) {
            if let click = try reader.claimedClick(id.high) {
                clicks.append(KnownClick(click, seenFrom: facts.address))
            }
        }
        return clicks
    }
}

/// Reads the facts that explain why no check got a click.
private struct ClickExplanationReader<Reader: ReportReader> {
    let reader: Reader
    let apps: CheckedApps

    /// The maximum number of records since the explained click that are read.
    private static var searched: Int { 500_000 }
    /// If this many related checks are found, all but the nearest are dropped.
    private static var kept: Int { 4096 }

    private typealias Found = (relation: RelatedCheck.Relation, id: UInt64)

    func material(of id: ClickID) throws(Reader.Failure) -> ClickExplanationInput? {
        guard let click = try reader.claimedClick(id.high), click.record.id == id,
            let owner = apps.owner(of: click.record.scope)
        else { return nil }
        let index = try reader.indexState(of: click)
        var known = KnownClick(click)
        known.isRetired = known.isRetired(closedAs: index.closedAs)
        var material = ClickExplanationInput(
            known,
            app: owner.app,
            isTest: owner.isTest,
            keyCount: click.record.hashes.count,
            isIndexed: index.isIndexed || click.record.hashes.isEmpty
        )
        try addNear(click.record, to: &material)
        return material
    }

    private func addNear(_ click: ClickRecord, to material: inout ClickExplanationInput)
        throws(Reader.Failure)
    {
        let keys = Set(click.hashes.map(\.index))
        var (found, count) = ([] as [Found], 0)
        try reader.checkTraces(
            from: click.facts.clickedAt,
            // A record is written up to a minute after its check.
            before: click.expiresAt.advanced(byMilliseconds: 60_000),
            atMost: Self.searched
        ) { check in
            count += 1
            guard check.scope == click.scope, let relation = check.relation(to: click, keys) else { return }
            found.append((relation, check.id))
            if found.count >= Self.kept { found = Self.nearest(found) }
        }
        material.searchedChecks = count
        material.hasSearchedAll = count < Self.searched
        for (relation, id) in Self.nearest(found) {
            guard let row = try reader.check(id), let record = apps.check(row) else { continue }
            material.near.append(RelatedCheck(record, relation))
        }
    }

    private static func nearest(_ found: [Found]) -> [Found] {
        let sorted = found.sorted { ($0.relation, $0.id) < ($1.relation, $1.id) }
        return Array(sorted.prefix(ClickExplanationInput.nearLimit))
    }
}

extension CheckTrace {
    /// Returns the closest relation of the check to a click and its keys; nil if there is none.
    fileprivate func relation(to click: ClickRecord, _ keys: Set<UInt64>) -> RelatedCheck.Relation? {
        if self.click == click.id.high || weighed.contains(click.id.high) { return .weighed }
        if let fingerprint, keys.contains(fingerprint) { return .sameFingerprint }
        guard let address = click.address else { return nil }
        if exactAddress == address.exact { return .sameAddress }
        return nearAddress == address.near ? .nearAddress : nil
    }
}

extension KnownClick {
    /// - Parameters:
    ///   - click: the stored click.
    ///   - launch: the address of the launch to compare it with.
    fileprivate init(_ click: ClaimedClick, seenFrom launch: AddressHashes? = nil) {
        let (record, facts) = (click.record, click.record.facts)
        let (clickedAt, end) = (facts.clickedAt, record.expiresAt)
        self.init(id: record.id, clickedAt: clickedAt, expiresAt: end, campaign: facts.campaignKey)
        platform = facts.platform
        (isRobot, isContradictory) = (facts.isRobot, facts.isContradictory)
        claimedAt = click.claimedAt
        claimedBy = click.method
        agreement = AddressHashes.agreement(record.address, launch)
        canonicalText = record.canonicalText
        clickIDs = facts.clickIDs
    }

    /// Returns whether the click was closed as claimed, although no launch has claimed it.
    fileprivate func isRetired(closedAs reason: String?) -> Bool {
        claimedAt == nil && reason == NoMatchReason.alreadyClaimed.rawValue
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func explanation(of reference: CheckReference, by explainer: Explainer) async throws(StoreError)
        -> Explanation?
    {
        let apps = try await checkedApps()
        let material = try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            try ExplanationReader(reader: reader, apps: apps).material(of: reference)
        }
        guard let material else { return nil }
        // The explainer runs on the same thread, but in another read, so the snapshot has ended by then.
        return try await loop.readInBackground { _ throws(Backend.Reader.Failure) in
            explainer.explain(material)
        }
    }

    public func material(ofClick id: ClickID) async throws(StoreError) -> ClickExplanationInput? {
        let apps = try await checkedApps()
        return try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            try ClickExplanationReader(reader: reader, apps: apps).material(of: id)
        }
    }
}
