public import Attribution

/// The source of a launch's evidence: the snapshot of a database, or the memory of a replay.
///
/// It adds rows to selections, which bound the number of rows that are read.
public protocol EvidenceSource {
    associatedtype Failure: Error

    /// The time of the check.
    var now: Timestamp { get }
    /// The app's window for matches by fingerprint; nil for the clicks' own windows.
    var fingerprintWindow: AttributionWindow? { get }
    /// Returns the summary of a key with many clicks; nil if there is none, or it has expired.
    func summary(of key: KeyedHash) -> KeySummary?
    /// Requests a new summary of a key.
    ///
    /// - Returns: whether ``summary(of:)`` returns it now.
    mutating func renewSummary(of key: KeyedHash) throws(Failure) -> Bool
    /// Adds the key's click that was closed last (a replay omits it), then its open clicks, newest first.
    mutating func read(_ selection: inout KeySelection) throws(Failure)
    /// Adds the newest clicks around an address, newest first.
    mutating func read(_ selection: inout AddressSelection) throws(Failure)
    /// Adds the wanted clicks that are open under the selection's key, and the claimed ones that came from
    /// exactly the launch's address.
    mutating func lookUp(_ clicks: [AddressSelection.Wanted], for selection: inout AddressSelection)
        throws(Failure)
    /// Returns the number of clicks around an address with much traffic.
    mutating func clickCount(around address: AddressHashes) throws(Failure) -> AddressClickCount
    /// Returns the number of the scope's live clicks with any hashes.
    mutating func liveClickCount() throws(Failure) -> Double
    /// Returns the stored sum of a learnt counter, relative to the epoch; 0 if there is none.
    mutating func learntSum(_ family: CounterFamily, _ key: UInt64) throws(Failure) -> Double
}

extension EvidenceSource {
    /// Reads the selection of each key.
    public mutating func selections(of keys: [KeyedHash]) throws(Failure) -> [KeySelection] {
        var selections: [KeySelection] = []
        selections.reserveCapacity(keys.count)
        for key in keys { selections.append(try selection(of: key)) }
        return selections
    }

    private mutating func selection(of key: KeyedHash) throws(Failure) -> KeySelection {
        var selection = KeySelection(key, at: now, summary(of: key), within: fingerprintWindow)
        try read(&selection)
        guard selection.needsSummary, try renewSummary(of: key) else { return selection }
        selection = KeySelection(key, at: now, summary(of: key), within: fingerprintWindow)
        try read(&selection)
        return selection
    }

    /// Reads the evidence for a launch.
    ///
    /// - Parameters:
    ///   - selections: the clicks of each key of the launch.
    ///   - launch: the launch's address; nil if it is no evidence.
    ///   - firstKeys: the launch's first fingerprint under each server key.
    ///   - epoch: the epoch of the learnt sums.
    /// - Returns: everything that ``CandidateEvidence`` documents.
    /// - Throws: if the source cannot be read.
    public mutating func evidence(
        of selections: [KeySelection],
        launch: LaunchAddress?,
        firstKeys: [KeyedHash],
        epoch: LearningEpoch
    ) throws(Failure) -> CandidateEvidence {
        var address = launch
        var evidence = CandidateEvidence()
        var listed = ListedClicks(selections, firstKeys)
        for selection in selections {
            for click in selection.open {
                let agreement = address?.agreement(with: click.address) ?? .missing
                listed.add(click.candidate(agreement), foundBy: selection.key, to: &evidence)
            }
            if evidence.background.isEmpty { evidence.background = selection.background }
        }
        evidence.addressTraffic.liveClicks = try liveClickCount()
        if let since = address?.since {
            evidence.addressTraffic.coverage = epoch.coverage(of: .launchesAtAddress, since: since, at: now)
        }
        for hashes in address?.searched() ?? [] {
            try addAgreeing(hashes, selections, &listed, to: &evidence)
            evidence.addressTraffic.launchesExact += try learnt(.launchesAtAddress, hashes.exact, epoch)
            evidence.addressTraffic.launchesNear += try learnt(.launchesNearAddress, hashes.near, epoch)
        }
        for key in firstKeys { evidence.organic += try learnt(.organic, key.index, epoch) }
        return evidence
    }

    /// Adds the candidates and the number of clicks around an address of the launch.
    private mutating func addAgreeing(
        _ address: AddressHashes,
        _ selections: [KeySelection],
        _ listed: inout ListedClicks,
        to evidence: inout CandidateEvidence
    ) throws(Failure) {
        var (exact, near) = (0.0, 0.0)
        for selection in selections where selection.newestUnclosed != nil || selections.count == 1 {
            var around = AddressSelection(around: address, selection, at: now)
            try read(&around)
            try lookUp(around.wanted(selection.places), for: &around)
            let traffic = around.traffic(around.needsCount ? try clickCount(around: address) : nil)
            for candidate in around.candidates {
                listed.add(candidate, foundBy: selection.key, to: &evidence)
            }
            (exact, near) = (max(exact, traffic.exact), max(near, traffic.near))
        }
        let limit = AddressTraffic.countLimit
        evidence.addressTraffic.clicksExact = min(evidence.addressTraffic.clicksExact + exact, limit)
        evidence.addressTraffic.clicksNear = min(evidence.addressTraffic.clicksNear + near, limit)
    }

    private mutating func learnt(_ family: CounterFamily, _ key: UInt64, _ epoch: LearningEpoch)
        throws(Failure) -> Double
    {
        let sum = try learntSum(family, key)
        return sum == 0 ? 0 : epoch.value(of: sum, family, at: now)
    }
}

/// The clicks that the evidence lists: several keys of a launch may find one click, which must count once.
private struct ListedClicks {
    private var clicks: Set<UInt64> = []
    private let areUnderOneKey: Bool
    /// The launch's first fingerprint under each server key; empty if the evidence lists all clicks that it counts.
    private let countingKeys: [KeyedHash]

    init(_ selections: [KeySelection], _ firstKeys: [KeyedHash]) {
        areUnderOneKey = selections.count == 1
        let first = selections.filter { firstKeys.contains($0.key) }
        countingKeys = first.contains { !$0.background.isEmpty } ? firstKeys : []
    }

    mutating func add(_ candidate: Candidate, foundBy key: KeyedHash, to evidence: inout CandidateEvidence) {
        if !areUnderOneKey {
            // A launch's first fingerprint finds every click whose form is known. If its selection does not
            // list such a click, the selection counts the click.
            guard countingKeys.isEmpty || candidate.form == nil || countingKeys.contains(key),
                clicks.insert(candidate.click.high).inserted
            else { return }
        }
        evidence.candidates.append(candidate)
    }
}
