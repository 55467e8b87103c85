/// The looks of a store, with its bounds: what a launch is answered from must not be more here than there.
extension ReplayStore {
    private static let listed = CandidateEvidence.maximumListed

    /// Everything that ``CandidateEvidence`` promises; empty where no click with the fingerprint is live.
    mutating func evidence(_ keys: [UInt64], address: AddressHashes?, at now: Timestamp) -> CandidateEvidence
    {
        drop(endedBefore: now)
        let looks = keys.map { look($0, at: now) }
        guard looks.contains(where: { !$0.open.isEmpty }) else { return CandidateEvidence(candidates: []) }
        var evidence = CandidateEvidence(candidates: [])
        var told: Set<Int> = []
        // A click is found by several of a launch's keys: the first of them counts.
        for look in looks {
            for row in look.open where told.insert(row.click).inserted {
                guard let stored = self[row.click] else { continue }
                evidence.candidates.append(candidate(row, stored, address))
            }
            if evidence.background.isEmpty { evidence.background = look.background }
        }
        evidence.addressTraffic.liveClicks = Double(liveCount)
        if let address {
            addAgreeing(address, looks, &told, at: now, to: &evidence)
            let (exact, near) = (address.exact, address.near)
            evidence.addressTraffic.launchesExact = counters.value(.launchesAtAddress, exact, at: now)
            evidence.addressTraffic.launchesNear = counters.value(.launchesNearAddress, near, at: now)
        }
        evidence.organic = keys.first.map { counters.value(.organic, $0, at: now) } ?? 0
        return evidence
    }

    /// Whether a live click with one of the launch's fingerprints came after a moment that may be the launch's own: one
    /// that does not come from the launch's own address is a stranger's, where the launch has one that tells anything.
    ///
    /// In a crowd, clicks of equal phones come within seconds, and nobody's address changes so soon but rarely.
    mutating func hasClick(of launch: RecordedLaunch, after moment: Timestamp) -> Bool {
        drop(endedBefore: launch.at)
        return launch.fingerprints.contains { key in
            look(key, at: launch.at).open.contains { row in
                guard let click = self[row.click]?.click, click.at > moment else { return false }
                return launch.address == nil
                    || AddressHashes.agreement(click.address, launch.address) == .exact
            }
        }
    }

    /// What there is of one fingerprint.
    private struct Look {
        let key: UInt64
        /// Live clicks, newest first.
        var open: [Row] = []
        var background: [BackgroundCount] = []
        /// See ``ReplaySummary/places``.
        var places: [UInt64: [Int]] = [:]
        /// Whether there is a click that nobody has consumed, live or not.
        var hasUnclaimed = false
        var needsSummary = false
    }

    private mutating func look(_ key: UInt64, at now: Timestamp) -> Look {
        skipUnmatchable(key, at: now)
        guard let rows = rows(key) else { return Look(key: key) }
        let look = look(key, rows, summaries[key], at: now)
        guard look.needsSummary else { return look }
        summaries[key] = summary(rows, at: now)
        return self.look(key, rows, summaries[key], at: now)
    }

    private func look(_ key: UInt64, _ rows: TimeOrdered<Row>, _ summary: ReplaySummary?, at now: Timestamp)
        -> Look
    {
        var look = Look(key: key)
        for index in stride(from: rows.endIndex - 1, through: rows.firstIndex, by: -1) {
            guard let row = rows[index], let stored = self[row.click], stored.isOpen else { continue }
            look.hasUnclaimed = true
            if let summary, index < summary.end {
                look.background = summary.counts
                look.places = summary.places
                look.needsSummary = look.needsSummary || summary.isOld(at: now)
                if look.open.count >= Self.listed / 2 { break }
                look.needsSummary = true
            }
            guard stored.end >= now else { continue }
            guard look.open.count < (look.needsSummary ? Self.listed : 2 * Self.listed) else {
                look.background = summary?.counts ?? []
                look.places = summary?.places ?? [:]
                look.needsSummary = true
                break
            }
            look.open.append(row)
        }
        return look
    }

    /// All live clicks but the newest as counts; nil where there are no more.
    private func summary(_ rows: TimeOrdered<Row>, at now: Timestamp) -> ReplaySummary? {
        var skipped = 0
        var end: Int?
        var members: [ReplaySummary.Member] = []
        for index in stride(from: rows.endIndex - 1, through: rows.firstIndex, by: -1) {
            guard let row = rows[index], let stored = self[row.click], stored.isOpen, stored.end >= now else {
                continue
            }
            guard skipped >= Self.listed else {
                skipped += 1
                continue
            }
            if end == nil { end = index + 1 }
            members.append(.init(number: row.click, click: stored.click, fingerprint: row.fingerprint))
        }
        return end.map { ReplaySummary(of: members, end: $0, at: now) }
    }

    /// Those that came from near the launch's address, and how many others did.
    private mutating func addAgreeing(
        _ address: AddressHashes,
        _ looks: [Look],
        _ told: inout Set<Int>,
        at now: Timestamp,
        to evidence: inout CandidateEvidence
    ) {
        for look in looks where look.hasUnclaimed || looks.count == 1 {
            let around = around(address, look, at: now)
            for (number, candidate) in around.candidates where told.insert(number).inserted {
                evidence.candidates.append(candidate)
            }
            evidence.addressTraffic.clicksExact = max(evidence.addressTraffic.clicksExact, around.exact)
            evidence.addressTraffic.clicksNear = max(evidence.addressTraffic.clicksNear, around.near)
        }
    }

    /// Clicks that are looked at around an address, the newest ones.
    private static let mostAround = 256
    /// Crowded addresses whose counts are kept.
    private static let mostCrowds = 1000

    private mutating func around(_ address: AddressHashes, _ look: Look, at now: Timestamp)
        -> (candidates: [(Int, Candidate)], exact: Double, near: Double)
    {
        var told = Set(look.open.map(\.click))
        var (exact, near) = (0, 0)
        var found: [(number: Int, isExact: Bool)] = []
        for number in clicks(near: address).suffix(Self.mostAround).reversed() {
            guard let stored = self[number], stored.end >= now else { continue }
            let isExact = stored.click.address?.exact == address.exact
            near += 1
            if isExact { exact += 1 }
            if has(stored, look.key), told.insert(number).inserted { found.append((number, isExact)) }
        }
        // Of one that was claimed since the summary was made is not known whether it agrees exactly.
        for number in look.places[address.near] ?? [] where told.insert(number).inserted {
            found.append((number, false))
        }
        let candidates = candidates(found, look.key, address, at: now)
        let claimed = candidates.count { $0.1.claimedAt != nil }
        let counted = near < Self.mostAround ? nil : crowd(at: address, at: now)
        return (
            candidates,
            min(max(Double(max(0, exact - claimed)), counted?.exact ?? 0), AddressTraffic.countLimit),
            min(max(Double(max(0, near - claimed)), counted?.near ?? 0), AddressTraffic.countLimit)
        )
    }

    /// A click that another launch has consumed tells of its visitor alone that he has launched.
    private func candidates(
        _ found: [(number: Int, isExact: Bool)],
        _ key: UInt64,
        _ address: AddressHashes,
        at now: Timestamp
    ) -> [(Int, Candidate)] {
        found.prefix(Self.listed).compactMap { number, isExact in
            guard let stored = self[number], stored.end >= now,
                let fingerprint = stored.click.fingerprints.first(where: { $0.key == key })
            else { return nil }
            var candidate = candidate(Row(click: number, fingerprint: fingerprint), stored, address)
            if !stored.isOpen {
                guard isExact, let claimedAt = stored.claimedAt else { return nil }
                candidate.claimedAt = claimedAt
            }
            return (number, candidate)
        }
    }

    private func has(_ stored: Stored, _ key: UInt64) -> Bool {
        stored.click.fingerprints.contains { $0.key == key }
    }

    /// How many clicks came from a crowded address: counted anew every now and then and not for each launch.
    private mutating func crowd(at address: AddressHashes, at now: Timestamp) -> ReplayAddressCount {
        if let known = crowds[address], !known.isOld(at: now) { return known }
        let newest = clicks(near: address).suffix(Int(AddressTraffic.countLimit)).compactMap {
            self[$0]?.click
        }
        let crowd = ReplayAddressCount(of: newest, at: address, at: now)
        if crowds.count >= Self.mostCrowds { crowds = [:] }
        crowds[address] = crowd
        return crowd
    }

    private func candidate(_ row: Row, _ stored: Stored, _ address: AddressHashes?) -> Candidate {
        let click = stored.click
        return Candidate(
            click: ClickID(high: UInt64(row.click), low: 0),
            clickedAt: click.at,
            destination: click.destination,
            platform: click.platform,
            form: row.fingerprint.form,
            weight: row.fingerprint.weight,
            address: AddressHashes.agreement(click.address, address),
            visitor: click.visitor,
            hasAddress: click.address != nil,
            release: row.fingerprint.release,
            signals: click.signals.excludingComponents(of: row.fingerprint.form)
        )
    }
}
