internal import Attribution

/// Claims a click for a check.
extension WriteTransaction {
    func claim(_ request: ClaimRequest) throws(Failure) -> WrittenClaim {
        guard let scope = try scope(of: request.app, isTest: request.isTest) else {
            return WrittenClaim(outcome: .lost)
        }
        if let earlier = try reader.claim(ofInstalls: request.installs, in: scope, at: request.at),
            let claim = try reader.answer(of: earlier, to: request.app)
        {
            // Overlapping checks of one installation get the same answer. If an earlier delivery failed, this response
            // must arrive.
            let wasUndelivered = try writer.markDelivered(earlier.click, to: request)
            return WrittenClaim(outcome: .replayed(claim), mustBeDelivered: wasUndelivered)
        }
        let number = Int64(bitPattern: request.click.high)
        guard let record = try reader.click(numbered: number), record.scope == scope
        else { return WrittenClaim(outcome: .lost) }
        let end = request.windows.end(of: record.facts, by: request.choice.method)
        guard end >= request.at, try consume(record, request) else {
            return try redeliver(record, to: request)
        }
        let claim = request.claim(of: try reader.click(record, of: request.app))
        try writer.insert(request.row(of: claim, in: scope, foundBy: record.hashes))
        try insert(request.record, scope)
        let events = try attribute(claim, scope, to: request.installs)
        let retired = try retireDuplicates(of: record, request)
        if let link = record.link, !record.facts.isTest {
            for variant in Self.countedVariants(record.facts) {
                try writer.countMatch(of: link, variant: variant)
            }
        }
        let named = claim.isCampaignOnly ? nil : record.number
        try publish(scope, at: claim.claimedAt, about: named) { withClickIDs in
            .match(claim, request.record, withClickIDs: withClickIDs)
        }
        try add(events)

        memory.totals.addMatch(claim, request, retired: retired, of: scope)
        memory.values.storedChecks += 1
        state.ledger.expect(claim.click.id, for: request)
        return WrittenClaim(outcome: .claimed(claim), mustBeDelivered: true)
    }

    /// Closes a click for its claim; returns false if it was closed or claimed before.
    private func consume(_ click: ClickRecord, _ request: ClaimRequest) throws(Failure) -> Bool {
        guard click.hashes.isEmpty else {
            return try close(click, as: .alreadyClaimed, at: request.at, by: request.caller.index)
        }
        // Only a token finds a click without hashes, and only a stored claim shows that the click is consumed.
        return try reader.claimTime(ofClick: click.number) == nil
    }

    /// Closes a click under all its hashes; returns false if it was closed before.
    func close(
        _ click: ClickRecord,
        as reason: NoMatchReason,
        at closedAt: Timestamp,
        by caller: UInt64? = nil
    ) throws(Failure) -> Bool {
        let closing = ClickClosing(reason: reason, at: closedAt, caller: caller)
        var wasOpen = false
        for hash in click.hashes where try writer.close(click, under: hash, closing) { wasOpen = true }
        return wasOpen
    }

    /// Gives this check an answer whose delivery failed.
    ///
    /// The outcome is `lost` if no delivery failed, another check has got the answer, or the click's window has ended.
    private func redeliver(_ click: ClickRecord, to request: ClaimRequest) throws(Failure) -> WrittenClaim {
        guard let record = try reader.claim(ofClick: click.number), record.isUndelivered,
            click.expiresAt >= request.at, try writer.markDelivered(click.number, to: request)
        else { return WrittenClaim(outcome: .lost) }
        let claim = record.claim(of: try reader.click(click, of: request.app))
        try add(try attribute(claim, click.scope, to: request.installs))
        return WrittenClaim(outcome: .replayed(claim), mustBeDelivered: true)
    }

    /// Closes the clicks of the same visit in the ten minutes before a claimed click, so that a reinstall
    /// does not match them.
    ///
    /// Later clicks stay: of two equal phones behind one address, the claim of one must not close the other's click.
    ///
    /// - Returns: the times until which fingerprints would have found the closed clicks.
    private func retireDuplicates(of claimed: ClickRecord, _ request: ClaimRequest) throws(Failure)
        -> [Timestamp]
    {
        // The hash of a visit contains the first fingerprint, so duplicates in the visit have the same fingerprint.
        guard let fingerprint = claimed.hashes.first else { return [] }
        var retired = try retireDuplicates(of: claimed, under: fingerprint, request)
        // If the server key was replaced between two taps, the duplicates have a hash under another key.
        for other in request.firstUnderEachKey where other != fingerprint {
            retired += try retireDuplicates(of: claimed, under: other, request)
        }
        return retired
    }

    private func retireDuplicates(
        of claimed: ClickRecord,
        under key: KeyedHash,
        _ request: ClaimRequest
    ) throws(Failure) -> [Timestamp] {
        let last = claimed.facts.clickedAt
        let first = last.advanced(byMilliseconds: -AddressKeys.visitMilliseconds)
        let search = VisitSearch(scope: claimed.scope, key: key, first: first, last: last)
        let visit = claimed.visit.index
        var suspects: [Int64] = []
        if let near = claimed.address?.near {
            // A visit has one address, and far fewer clicks come from one address than share a common fingerprint.
            suspects = try reader.clicks(ofVisit: visit, near: near, search)
        }
        // Before midnight the address had another hash, so clicks from before midnight are searched by the fingerprint
        // alone.
        if claimed.address == nil || AddressKeys.day(of: first) != AddressKeys.day(of: last) {
            suspects += try reader.clicks(ofVisit: visit, near: nil, search)
        }
        var retired: [Timestamp] = []
        for suspect in suspects {
            guard let click = try reader.click(numbered: suspect), click.visit == claimed.visit,
                try close(click, as: .alreadyClaimed, at: click.facts.clickedAt)
            else { continue }
            retired.append(request.windows.fingerprintEnd(of: click.facts))
        }
        return retired
    }
}
