internal import Attribution
internal import SQLite
internal import Storage

/// Reads what a launch's candidates are weighed by.
struct EvidenceReader {
    let connection: SQLiteConnection
    let scope: Scope
    let check: Check
    let learnt: LearningState

    /// From what was found by each of the launch's keys; learnt sums are relative to the epoch.
    func evidence(_ looks: [IndexKeyReader], _ epoch: LearningEpoch) throws(SQLiteError) -> CandidateEvidence
    {
        var address = check.details.value.address
        var evidence = CandidateEvidence(candidates: [])
        var told: Set<Int64> = []
        // A click is found by several of a launch's keys: the first of them counts.
        for look in looks {
            for row in look.open where looks.count == 1 || told.insert(row.click).inserted {
                evidence.candidates.append(row.candidate(address?.agreement(with: row.address) ?? .missing))
            }
            if evidence.background.isEmpty { evidence.background = look.background }
        }
        let moment = check.at
        evidence.addressTraffic.liveClicks = try learnt.liveClicks(of: scope, at: moment, on: connection)
        if let since = address?.since {
            evidence.addressTraffic.coverage = epoch.coverage(
                of: .launchesAtAddress,
                since: since,
                at: moment
            )
        }
        for hashes in address?.searched() ?? [] {
            try addAgreeing(hashes, looks, &told, to: &evidence)
            evidence.addressTraffic.launchesExact += try sum(.launchesAtAddress, hashes.exact, epoch)
            evidence.addressTraffic.launchesNear += try sum(.launchesNearAddress, hashes.near, epoch)
        }
        for key in check.ladder.firstUnderEachKey {
            evidence.organic += try sum(.organic, key.index, epoch)
        }
        return evidence
    }

    private func addAgreeing(
        _ address: AddressHashes,
        _ looks: [IndexKeyReader],
        _ told: inout Set<Int64>,
        to evidence: inout CandidateEvidence
    ) throws(SQLiteError) {
        var crowd = AddressTraffic()
        for look in looks where look.newestUnclosed != nil || looks.count == 1 {
            let around = try AddressReader(address, look, scope, at: check.at, learnt, on: connection)
            for candidate in around.candidates
            where looks.count == 1 || told.insert(Int64(bitPattern: candidate.click.high)).inserted {
                evidence.candidates.append(candidate)
            }
            crowd.clicksExact = max(crowd.clicksExact, around.clicksExact)
            crowd.clicksNear = max(crowd.clicksNear, around.clicksNear)
        }
        evidence.addressTraffic.clicksExact = min(
            evidence.addressTraffic.clicksExact + crowd.clicksExact,
            AddressTraffic.countLimit
        )
        evidence.addressTraffic.clicksNear = min(
            evidence.addressTraffic.clicksNear + crowd.clicksNear,
            AddressTraffic.countLimit
        )
    }

    private func sum(_ family: CounterFamily, _ key: UInt64, _ epoch: LearningEpoch) throws(SQLiteError)
        -> Double
    {
        let sum = try connection.statement(LearntSQL.find).first(scope.number, Int64(family.rawValue), key) {
            $0.real(0)
        }
        return sum.map { epoch.value(of: $0, family, at: check.at) } ?? 0
    }
}
