extension ReplayStore {
    private static let listed = CandidateEvidence.listed

    /// Everything that ``CandidateEvidence`` promises, with the bounds that it states.
    mutating func evidence(_ key: UInt64, address: RecordedAddress?, at now: Timestamp) -> CandidateEvidence {
        drop(endedBefore: now)
        skipUnmatchable(key, at: now)
        guard let rows = rows(key) else { return CandidateEvidence(candidates: []) }
        var background: [BackgroundCount] = []
        var listed = rows.rest
        if rows.count > 2 * Self.listed {
            let summary = summary(key, rows, at: now)
            listed = rows.rest(summary.end..<rows.endIndex)
            background = summary.counts
        }
        let candidates = candidates(listed, key, address: address, at: now)
        guard candidates.contains(where: { $0.claimedAt == nil }) || !background.isEmpty else {
            return CandidateEvidence(candidates: [])
        }
        return CandidateEvidence(
            candidates: candidates,
            background: background,
            crowd: crowd(address, at: now),
            organic: counters.value(.organic, key, at: now)
        )
    }

    /// The unclaimed ones of the rows, then those that agree with the address, claimed or not; none twice.
    private func candidates(
        _ rows: ArraySlice<Row>,
        _ key: UInt64,
        address: RecordedAddress?,
        at now: Timestamp
    ) -> [Candidate] {
        var told: Set<Int> = []
        var candidates: [Candidate] = []
        for row in rows {
            guard let stored = self[row.click], stored.claimedAt == nil, stored.end >= now else { continue }
            if told.insert(row.click).inserted { candidates.append(candidate(row, stored, address)) }
        }
        guard let address else { return candidates }
        for row in self.rows(Place(key: key, near: address.near)).suffix(Self.listed) {
            guard let stored = self[row.click], stored.end >= now else { continue }
            if told.insert(row.click).inserted { candidates.append(candidate(row, stored, address)) }
        }
        return candidates
    }

    private func candidate(_ row: Row, _ stored: Stored, _ address: RecordedAddress?) -> Candidate {
        let click = stored.click
        return Candidate(
            click: ClickID(high: UInt64(row.click), low: 0),
            clickedAt: click.at,
            destination: click.destination,
            platform: click.platform,
            form: row.fingerprint.form,
            weight: row.fingerprint.weight,
            address: RecordedAddress.agreement(click.address, address),
            visitor: click.visitor,
            hasAddress: click.address != nil,
            release: row.fingerprint.release,
            signals: click.signals,
            claimedAt: stored.claimedAt
        )
    }

    private mutating func summary(_ key: UInt64, _ rows: TimeOrdered<Row>, at now: Timestamp) -> ReplaySummary
    {
        if let summary = summaries[key], rows.endIndex - summary.end <= Self.listed,
            now.milliseconds(since: summary.madeAt) < ReplaySummary.longest
        {
            return summary
        }
        let end = rows.endIndex - Self.listed / 2
        var clicks: [(click: RecordedClick, fingerprint: RecordedFingerprint)] = []
        for row in rows.rest(rows.firstIndex..<end) {
            guard let stored = self[row.click], stored.claimedAt == nil, stored.end >= now else { continue }
            clicks.append((stored.click, row.fingerprint))
        }
        let summary = ReplaySummary(of: clicks, end: end, at: now)
        summaries[key] = summary
        return summary
    }

    private func crowd(_ address: RecordedAddress?, at now: Timestamp) -> AddressCrowd {
        guard let address else { return AddressCrowd(liveClicks: Double(liveCount)) }
        func live(_ numbers: ArraySlice<Int>) -> Double {
            let newest = numbers.suffix(Int(AddressCrowd.enough))
            return Double(newest.count { self[$0].map { $0.end >= now && $0.claimedAt == nil } ?? false })
        }
        let clicks = clicks(at: address)
        return AddressCrowd(
            clicksExact: live(clicks.exact),
            clicksNear: live(clicks.near),
            liveClicks: Double(liveCount),
            launchesExact: counters.value(.launchesAtAddress, address.exact, at: now),
            launchesNear: counters.value(.launchesNearAddress, address.near, at: now)
        )
    }
}
