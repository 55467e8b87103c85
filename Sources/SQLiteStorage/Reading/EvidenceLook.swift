internal import Attribution
internal import SQLite

/// Reads what a launch's candidates are weighed by.
struct EvidenceLook {
    let connection: Connection
    let scope: Scope
    let check: Check

    /// From what was found by each of the launch's keys; learnt sums are relative to the epoch.
    func evidence(_ looks: [KeyLook], _ epoch: LearningEpoch) throws(SQLiteError) -> CandidateEvidence {
        let address = check.details.value.address
        var evidence = CandidateEvidence(candidates: [])
        var told: Set<Int64> = []
        // A click is found by several of a launch's keys: the first of them counts.
        for look in looks {
            for row in look.open where looks.count == 1 || told.insert(row.click).inserted {
                evidence.candidates.append(row.candidate(address))
            }
            if evidence.background.isEmpty { evidence.background = look.background }
        }
        let moment = check.at
        evidence.crowd.liveClicks = Double(try LiveClicks.count(of: scope, at: moment, on: connection))
        if let address {
            try addAgreeing(address, looks, &told, to: &evidence)
            let (exact, near) = (address.exact, address.near)
            evidence.crowd.launchesExact = try learnt(.launchesAtAddress, exact, epoch)
            evidence.crowd.launchesNear = try learnt(.launchesNearAddress, near, epoch)
        }
        if let first = looks.first { evidence.organic = try learnt(.organic, first.key.index, epoch) }
        return evidence
    }

    private func addAgreeing(
        _ address: AddressHashes,
        _ looks: [KeyLook],
        _ told: inout Set<Int64>,
        to evidence: inout CandidateEvidence
    ) throws(SQLiteError) {
        for look in looks where look.newestUnclosed != nil || looks.count == 1 {
            let around = try AddressLook(address, look, scope, at: check.at, on: connection)
            for candidate in around.candidates
            where looks.count == 1 || told.insert(Int64(bitPattern: candidate.click.high)).inserted {
                evidence.candidates.append(candidate)
            }
            evidence.crowd.clicksExact = max(evidence.crowd.clicksExact, around.clicksExact)
            evidence.crowd.clicksNear = max(evidence.crowd.clicksNear, around.clicksNear)
        }
    }

    private func learnt(_ family: CounterFamily, _ key: UInt64, _ epoch: LearningEpoch) throws(SQLiteError)
        -> Double
    {
        let sum = try connection.statement(LearntSQL.find).first(scope.number, Int64(family.rawValue), key) {
            $0.real(0)
        }
        return sum.map { epoch.value(of: $0, family, at: check.at) } ?? 0
    }
}
