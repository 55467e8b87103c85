internal import Attribution
internal import Threads

/// The steps of jobs; each is short, because other writes wait behind it.
extension WriteTransaction {
    func perform(_ step: JobStep) throws(Failure) -> Written {
        switch step {
        case .retention(let step):
            let slice = try runRetention(step)
            if slice.deleted > 0 || slice.closed > 0 { memory.values.hasDeleted = true }
            return .retention(slice)
        case .noteSettled(let time): try writer.noteSettled(at: time)
        case .compact(let position, let nanoseconds):
            let deadline = MonotonicTime.now().nanoseconds + nanoseconds
            return .compacted(upTo: try compact(from: position, until: deadline))
        case .takeLease(let lease): return .flag(try take(lease))
        case .finish(let job, let holder, let progress):
            try writer.finish(job, for: holder, progress: progress)
        case .drift(let findings, let scope, let end, let lease):
            guard try take(lease) else { return .flag(false) }
            // Another process may have taken the lease and evaluated the span since the findings were read.
            let last = try reader.storedProgress(of: lease.name).map { Timestamp(milliseconds: $0) }
            guard DriftHistory.isDue(end, after: last) else { return .flag(false) }
            try writer.keep(findings, of: scope, end: end)
            for event in findings.events { try publish(scope, at: lease.now) { _ in .drift(event) } }
            return .flag(true)
        case .postbacks(let step): return try perform(step)
        case .audit(let time, let erasedBefore, let limit):
            let id = AuditID(high: UInt64(max(0, time.milliseconds)) << 16, low: 0)
            let hasMoreEntries = try writer.deleteAudit(before: id, atMost: Int64(limit)) == limit
            let hasMoreErasures = try writer.removeErasures(before: erasedBefore, atMost: Int64(limit))
            return .flag(hasMoreEntries || hasMoreErasures)
        case .collisions(let reports):
            for entry in reports { try writer.keep(entry.report.figures, as: .collisions, of: entry.scope) }
        case .policyGrid(let grid, let scope): try writer.keep(grid.figures, as: .policyGrid, of: scope)
        }
        return .done
    }

    /// Takes or renews a lease; returns false if another process has it, or if the lease would have ended already.
    ///
    /// A write may wait for a long time, and another process may have taken the lease meanwhile. At the old
    /// `now` of this write, the end of that lease would seem too far away to be valid, and this process would take the
    /// lease away.
    func take(_ lease: JobLease) throws(Failure) -> Bool {
        let age = state.configuration.clock.now().milliseconds(since: lease.now)
        guard age < lease.milliseconds else { return false }
        var lease = lease
        // The clocks of servers may differ by more than a lease lasts, so the end of a lease is a time of the database.
        lease.now = lease.now.advanced(byMilliseconds: -state.clockLead)
        return try writer.take(lease)
    }
}

/// Retention: closes and deletes clicks.
extension WriteTransaction {
    /// Deletes clicks whose retention has ended; if none is left, closes clicks whose window has ended, and
    /// deletes old records of checks, old events and old counts of live clicks.
    private func runRetention(_ step: RetentionStep) throws(Failure) -> RetentionSlice {
        if step.notesSettledClock { try writer.noteSettled(at: step.now) }
        let deadline = MonotonicTime.now().nanoseconds + step.nanoseconds
        let limit = step.limit
        var slice = RetentionSlice()
        let first = Timestamp(milliseconds: .min)
        let due = try reader.clicks(expiringFrom: first, before: step.deadlines.all, atMost: limit)
        for click in due where slice.deleted == 0 || MonotonicTime.now().nanoseconds < deadline {
            try delete(click)
            slice.deleted += 1
        }
        if let last = due.prefix(Int(slice.deleted)).last { try noteDeleted(last) }
        if let oldest = due.first, due.count == limit || slice.deleted < due.count {
            slice.lag = step.deadlines.all.milliseconds(since: oldest.expiresAt)
            slice.isDeleting = true
            slice.isMore = true
            return slice
        }
        if try deleteFirstKind(step, until: deadline, &slice) {
            slice.isMore = true
            return slice
        }
        let (closed, closedBefore) = try closeClicks(step, until: deadline)
        slice.closed = closed
        slice.isMore = closedBefore < step.closingBefore
        slice.lag = slice.isMore ? step.closingBefore.milliseconds(since: closedBefore) : 0
        let second = LiveClicks.second(of: step.now) - LiveClicks.keptSeconds
        for scope in try reader.numberedApps().flatMap(\.scopes)
        where try writer.purgeLiveClicks(of: scope, before: second, atMost: limit) { slice.isMore = true }
        if try writer.removeEvents(before: step.deadlines.installs, atMost: Int64(limit)) {
            slice.isMore = true
        }
        if try deleteChecks(before: step.deadlines.checks, limit: 4 * Int64(limit)) { slice.isMore = true }
        memory.values.closedBefore = closedBefore
        return slice
    }

    /// Deletes clicks of the kind (matched or unmatched) with the shorter retention, up to the step's limit, and skips
    /// the others.
    ///
    /// - Returns: whether there may be more.
    private func deleteFirstKind(_ step: RetentionStep, until deadline: UInt64, _ slice: inout RetentionSlice)
        throws(Failure) -> Bool
    {
        let deadlines = step.deadlines
        guard deadlines.some > deadlines.all else { return false }
        let kind: Int64 = deadlines.deletesMatchesFirst ? 1 : 0
        let sortedKind = try reader.value(of: .sortedKind)
        var sorted = Timestamp(milliseconds: try reader.value(of: .sortedUpTo) ?? .min)
        // If the other kind had the shorter retention before, older clicks of this kind are still stored.
        if let sortedKind, sortedKind != kind { sorted = Timestamp(milliseconds: .min) }
        let start = max(sorted, deadlines.all)
        let due = try reader.clicks(expiringFrom: start, before: deadlines.some, atMost: step.limit)
        guard !due.isEmpty else { return false }
        var done = 0
        // The clicks of the first millisecond are handled together, because the next step starts after them.
        for click in due
        where done == 0 || click.expiresAt == start || MonotonicTime.now().nanoseconds < deadline {
            done += 1
            let isMatched = try reader.claimTime(ofClick: click.number) != nil
            guard isMatched == deadlines.deletesMatchesFirst else { continue }
            try delete(click)
            try noteDeleted(click)
            slice.deleted += 1
        }
        let isMore = done < due.count || done == step.limit
        var end = isMore ? due[done - 1].expiresAt : deadlines.some
        // If more clicks than the limit expire in one millisecond, the rest stays for the longer retention.
        if isMore, end == start { end = end.advanced(byMilliseconds: 1) }
        try writer.set(.sortedUpTo, to: end.milliseconds)
        if sortedKind != kind { try writer.set(.sortedKind, to: kind) }
        return isMore
    }

    /// Records that retention has deleted a click.
    private func noteDeleted(_ click: ClickRecord) throws(Failure) {
        let before = try reader.value(of: .deletedUpTo) ?? .min
        try writer.set(.deletedUpTo, to: max(before, click.expiresAt.milliseconds))
    }

    /// Deletes a click and its rows in all indexes.
    private func delete(_ click: ClickRecord) throws(Failure) {
        let times = ClosingTimes(
            claimedAt: try reader.claimTime(ofClick: click.number),
            expiresAt: click.expiresAt,
            clickedAt: click.facts.clickedAt
        )
        let mayBeOpen = click.expiresAt >= memory.values.closedBefore
        for hash in click.hashes {
            if mayBeOpen { try writer.removeOpen(click, under: hash) }
            try writer.removeClosed(click, under: hash, at: times)
        }
        if let near = click.address?.near { try writer.removeAddress(near, of: click) }
        try writer.delete(click.number)
    }

    /// Closes some of the clicks that expired before the step's time.
    ///
    /// - Returns: the number of clicks that were closed, and the time before which every expired click is closed now.
    private func closeClicks(_ step: RetentionStep, until deadline: UInt64)
        throws(Failure) -> (closed: Int64, closedBefore: Timestamp)
    {
        let (start, end, limit) = (memory.values.closedBefore, step.closingBefore, step.limit)
        guard start < end else { return (0, start) }
        let due = try reader.clicks(expiringFrom: start, before: end, atMost: limit)
        var (closed, done) = (0 as Int64, 0)
        for click in due where done == 0 || MonotonicTime.now().nanoseconds < deadline {
            if try expire(click) { closed += 1 }
            done += 1
        }
        guard done == limit || done < due.count, let last = due.prefix(done).last?.expiresAt else {
            return (closed, end)
        }
        // There may be more clicks that expired in the same millisecond as the last one.
        guard last == start else { return (closed, last) }
        // If more clicks than the limit expire in one millisecond, this step closes all of them: otherwise each step
        // would start with the same clicks.
        let next = last.advanced(byMilliseconds: 1)
        for click in try reader.clicks(expiringFrom: last, before: next, atMost: .max)
        where try expire(click) { closed += 1 }
        return (closed, next)
    }

    /// Closes a click whose window has ended; returns false if it was closed before.
    private func expire(_ click: ClickRecord) throws(Failure) -> Bool {
        if let near = click.address?.near { try writer.removeAddress(near, of: click) }
        return try close(click, as: .expired, at: click.expiresAt)
    }

    /// Deletes the oldest check records: those before a time, or if there are none, those above the maximum number.
    ///
    /// - Returns: whether there may be more.
    private func deleteChecks(before time: Timestamp, limit: Int64) throws(Failure) -> Bool {
        let kept = try reader.value(of: .keptChecks) ?? 0
        let excess = max(0, kept - PendingCheckRecords.maximumStored)
        var deleted = try writer.deleteChecks(before: RowIdentifier.first(at: time), atMost: limit)
        if deleted == 0, excess > 0 {
            deleted = try writer.deleteChecks(before: .max, atMost: min(limit, excess))
        }
        guard deleted > 0 else { return false }
        memory.values.hasDeleted = true
        try writer.add(-deleted, to: .keptChecks)
        return deleted >= min(limit, max(excess, 1))
    }
}

/// Compacts counts.
extension WriteTransaction {
    /// Compacts the spans that ``CounterCompaction/spans(of:)`` returns for a day, until a deadline on the
    /// monotonic clock.
    ///
    /// - Returns: where the next step continues; nil if the day is complete.
    private func compact(from start: CompactionPosition, until deadline: UInt64)
        throws(Failure) -> CompactionPosition?
    {
        var position = start
        let parts = CounterCompaction.spans(of: start.day).flatMap { span in
            CounterCompaction.dimensions.map { (span: span, dimension: $0) }
        }
        let scopes = try reader.numberedApps().flatMap(\.scopes).sorted { $0.number < $1.number }
        for scope in scopes where scope.number >= position.scope {
            if scope.number > position.scope { (position.scope, position.part) = (scope.number, 0) }
            while position.part < parts.count {
                let (span, dimension) = parts[position.part]
                let names = RareNames(dimension, span.0, from: span.1, of: scope)
                if try !compact(names) { position.part += 1 }
                // A step without rare names takes time too, above all if the database is on another machine.
                if MonotonicTime.now().nanoseconds >= deadline { return position }
            }
        }
        try writer.set(.compactedBefore, to: start.day.advanced(byMilliseconds: 86_400_000).milliseconds)
        return nil
    }

    /// Moves counts of some rare names to the name for everything else, or deletes them if they are hourly counts.
    ///
    /// - Returns: false if there are no rare names left.
    private func compact(_ names: RareNames) throws(Failure) -> Bool {
        if !names.kept.isEmpty { guard try writer.foldRareNames(names) else { return false } }
        return try writer.removeRareNames(names)
    }
}
