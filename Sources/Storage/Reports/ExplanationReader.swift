public import Attribution

/// Reads what an explanation of a check is made of.
public struct ExplanationReader<Reader: ReportReader> {
    private let reader: Reader
    private let apps: CheckedApps

    public init(_ reader: Reader, _ apps: CheckedApps) {
        (self.reader, self.apps) = (reader, apps)
    }

    /// Records that are looked through for one that is not asked for by its identifier.
    private static var searched: Int { 2_000_000 }
    /// Records after a claim among which its own is.
    private static var searchedAfterClaim: Int { 50_000 }
    /// Clicks that are looked at for recent ones of the app.
    private static var recentScanned: Int { 20_000 }

    public func material(of reference: CheckReference) throws(Reader.Failure) -> ExplanationInput? {
        guard let id = try find(reference), let row = try reader.check(id), let record = apps.check(row)
        else {
            return nil
        }
        if case .check(let wanted) = reference, wanted != record.id { return nil }
        let address = record.facts.address
        // Those of the same second may have come just before it.
        let recent = try reader.recentClicks(
            of: row.record.scope,
            before: record.facts.at.advanced(byMilliseconds: 1000),
            among: Self.recentScanned,
            atMost: ExplanationInput.recentLimit
        )
        return ExplanationInput(
            record: record,
            sameFingerprint: try sameFingerprint(row),
            named: try named(row),
            recent: recent.map { KnownClick($0, seenFrom: address) }
        )
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

/// Reads what is explained of a click that no check was answered with.
public struct ClickExplanationReader<Reader: ReportReader> {
    private let reader: Reader
    private let apps: CheckedApps

    public init(_ reader: Reader, _ apps: CheckedApps) {
        (self.reader, self.apps) = (reader, apps)
    }

    /// Records that are looked through, from the click on.
    private static var searched: Int { 500_000 }
    /// Near checks that are kept before all but the nearest are dropped.
    private static var kept: Int { 4096 }

    private typealias Found = (relation: RelatedCheck.Relation, id: UInt64)

    public func material(of id: ClickID) throws(Reader.Failure) -> ClickExplanationInput? {
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
            // Records are written a little later than their checks.
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
    /// The nearest thing that a check has in common with a click and its keys; nil for nothing.
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
    ///   - click: as it is stored.
    ///   - launch: the address of the launch that it is compared with.
    fileprivate init(_ click: ClaimedClick, seenFrom launch: AddressHashes? = nil) {
        let record = click.record
        self.init(
            id: record.id,
            clickedAt: record.facts.clickedAt,
            expiresAt: record.expiresAt,
            campaign: record.facts.campaignKey
        )
        platform = record.facts.platform
        isRobot = record.facts.isRobot
        claimedAt = click.claimedAt
        claimedBy = click.method
        agreement = AddressHashes.agreement(record.address, launch)
        canonicalText = record.canonicalText
    }

    /// Whether it was closed as claimed though no launch has claimed it.
    fileprivate func isRetired(closedAs reason: String?) -> Bool {
        claimedAt == nil && reason == NoMatchReason.alreadyClaimed.rawValue
    }
}
