extension ReplayStore {
    private static let listed = CandidateEvidence.listed

    /// Everything that ``CandidateEvidence`` promises, with the bounds that it states; empty where nothing is live.
    mutating func evidence(_ keys: [UInt64], address: AddressHashes?, at now: Timestamp) -> CandidateEvidence
    {
        drop(endedBefore: now)
        var evidence = CandidateEvidence(candidates: [])
        var told: Set<Int> = []
        for key in keys {
            skipUnmatchable(key, at: now)
            guard let rows = rows(key) else { continue }
            var listed = rows.rest
            if rows.count > 2 * Self.listed {
                let summary = summary(key, rows, at: now)
                listed = rows.rest(summary.end..<rows.endIndex)
                if evidence.background.isEmpty { evidence.background = summary.counts }
            }
            for row in listed {
                guard let stored = self[row.click], stored.claimedAt == nil, stored.end >= now,
                    told.insert(row.click).inserted
                else { continue }
                evidence.candidates.append(candidate(row, stored, address))
            }
        }
        addAgreeing(keys, address, &told, at: now, to: &evidence)
        guard evidence.candidates.contains(where: { $0.claimedAt == nil }) || !evidence.background.isEmpty
        else { return CandidateEvidence(candidates: []) }
        evidence.crowd = crowd(address, at: now)
        evidence.organic = keys.first.map { counters.value(.organic, $0, at: now) } ?? 0
        return evidence
    }

    /// Those that agree with the address, claimed or not.
    private func addAgreeing(
        _ keys: [UInt64],
        _ address: AddressHashes?,
        _ told: inout Set<Int>,
        at now: Timestamp,
        to evidence: inout CandidateEvidence
    ) {
        guard let address else { return }
        for key in keys {
            for row in rows(Place(key: key, near: address.near)).suffix(Self.listed) {
                guard let stored = self[row.click], stored.end >= now, told.insert(row.click).inserted else {
                    continue
                }
                evidence.candidates.append(candidate(row, stored, address))
            }
        }
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

    private func crowd(_ address: AddressHashes?, at now: Timestamp) -> AddressCrowd {
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
