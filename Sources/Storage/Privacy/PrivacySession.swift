public import Attribution

/// Shows and erases what is stored about a person.
extension DatabaseSession where Backend.Reader: ReportReader {
    public func held(_ subject: DataSubject) async throws(StoreError) -> HeldData {
        let found = try await find(subject)
        var held = HeldData()
        (held.counts, held.isComplete) = (found.counts, found.isComplete)
        for home in found.clicks {
            let (click, id) = (home.click, home.click.id.text)
            held.rows.append(HeldRowWriter.row(click, of: "clicks", id, click.scope))
            if let claim = home.claim {
                held.rows.append(HeldRowWriter.row(claim, of: "claims", id, click.scope))
            }
        }
        held.rows += found.installs.map {
            HeldRowWriter.row($0, of: "attributed_installs", $0.attribution.click.text, $0.scope)
        }
        held.rows += found.events.map { HeldRowWriter.row($0.asSent, of: "events", $0.sentID, $0.scope) }
        held.rows += found.checks.map { HeldRowWriter.row($0, of: "checks", $0.id.text, $0.scope) }
        return held
    }

    public func erase(_ subject: DataSubject, _ record: Erasure) async throws(StoreError) -> Erasure {
        var record = record
        let windows = try loop.directory().policy(of: subject.app)?.windows ?? MethodWindows()
        var found = try await find(subject)
        var erased: [Scope: [Int64]] = [:]
        /// Erases the found rows, and finds the rows that are left: one pass finds a limited number.
        func erasePass() async throws(StoreError) {
            for var slice in Self.slices(of: found, record, windows) {
                var next: Int64? = slice.position
                while let position = next {
                    slice.position = position
                    guard case .erased(let counts, let end) = try await loop.write(.erase(slice)) else {
                        throw .mismatch
                    }
                    record.counts += counts
                    next = end
                }
            }
            for home in found.clicks { erased[home.click.scope, default: []].append(home.click.number) }
            found = try await find(subject, erased)
        }
        // Rows from after the erasure's time do not start another pass: a busy network sends some in each pass.
        repeat { try await erasePass() } while found.hasRows(through: record.at)
        // Another process may have answered a check before the erasure and not stored its record yet. The record has the
        // time of that process's clock, so this pass erases rows of any time.
        if let stored = try await findLater(subject, erased) {
            found = stored
            repeat { try await erasePass() } while found.hasRows(through: record.at)
        }
        var end = ErasureSlice(record: record, scopes: found.scopes, windows: windows)
        end.isComplete = true
        try await loop.write(.erase(end))
        record.isLogCleared = try await loop.clearLog()
        return record
    }

    /// Waits until other processes have stored the records of checks that they have answered, and finds the rows of a
    /// subject again; returns nil if there are no other processes.
    private func findLater(_ subject: DataSubject, _ erased: [Scope: [Int64]]) async throws(StoreError)
        -> SubjectRows?
    {
        let pause = loop.state.configuration.foreignUpdateMilliseconds
        guard pause > 0 else { return nil }
        do { try await Task.sleep(for: .milliseconds(pause)) } catch { throw .late }
        return try await find(subject, erased)
    }

    public func erasures(atMost limit: Int) async throws(StoreError) -> [Erasure] {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            try reader.erasures(atMost: limit).map(\.erasure)
        }
    }

    public func holdings() async throws(StoreError) -> [TableHolding] {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in try reader.holdings() }
    }

    /// Divides an erasure into steps of a few milliseconds.
    ///
    /// First the rows are deleted that can be found only through the clicks, then the clicks themselves, together with
    /// the matches through which the clicks are found. So if an erasure is interrupted, the next one of the same
    /// subject finds the rest. There is always a last step, which stores the record even if nothing was found.
    private static func slices(of found: SubjectRows, _ record: Erasure, _ windows: MethodWindows)
        -> [ErasureSlice]
    {
        let (clicksAtOnce, othersAtOnce) = (50, 200)
        let numbers = found.clicks.map(\.click.number)
        let slice = ErasureSlice(record: record, scopes: found.scopes, windows: windows)
        var slices: [ErasureSlice] = []
        func add<Element>(_ all: [Element], _ count: Int, _ set: (inout ErasureSlice, [Element]) -> Void) {
            for start in stride(from: 0, to: all.count, by: count) {
                var part = slice
                set(&part, Array(all[start..<min(start + count, all.count)]))
                slices.append(part)
            }
        }
        let matches = Dictionary(grouping: found.installs, by: \.number)
        let others = Set(matches.keys).subtracting(numbers)
        add(Array(found.sums), othersAtOnce) { $0.sums = $1 }
        add(found.checks.map(\.id), othersAtOnce) { $0.checks = $1 }
        add(found.events, othersAtOnce) { $0.events = $1 }
        add(numbers, clicksAtOnce) { slice, clicks in
            (slice.clicks, slice.installs) = (clicks, clicks.flatMap { matches[$0] ?? [] })
        }
        add(found.installs.filter { others.contains($0.number) }, othersAtOnce) { $0.installs = $1 }
        var last = slice
        // By now these clicks are deleted; rows that refer to them may be left.
        (last.clicks, last.isLast) = (numbers, true)
        return slices + [last]
    }
}

/// Finds the rows of a subject.
extension DatabaseSession where Backend.Reader: ReportReader {
    /// Returns the rows of a subject.
    ///
    /// An erasure passes the clicks that it has deleted, because rows that refer to them may have been written meanwhile.
    private func find(_ subject: DataSubject, _ erased: [Scope: [Int64]] = [:]) async throws(StoreError)
        -> SubjectRows
    {
        // The records of the last checks, and what was learnt from them, may wait in memory.
        try await loop.flushUpdates()
        let learnt = loop.state.configuration.isReadOnly ? [] : loop.state.learnt.takeSlices()
        // One write for all slices would delay other writes, so each slice has a write of its own.
        for slice in learnt { try await loop.write(.learning(.add([slice]))) }
        var found = SubjectRows()
        for isTest in [false, true] {
            guard let scope = try loop.scope(of: subject.app, isTest: isTest) else { continue }
            found.scopes.append(scope)
            found.clicks += try await clicks(of: subject, scope)
            try await addEvents(of: subject, scope, erased[scope] ?? [], to: &found)
        }
        let all = found.clicks.map(\.click.number) + erased.values.joined()
        let numbers = Set(all.map { UInt64(bitPattern: $0) })
        if subject.isSearchedInChecks || !numbers.isEmpty {
            try await forEachPart(of: found.scopes) { check in
                subject.has(check.facts, isTest: check.scope.isTest)
                    || check.facts.click.map { numbers.contains($0.high) } ?? false
            } _: {
                found.checks += $0
                return found.checks.count < HeldData.maximumClicks
            }
        }
        found.isComplete =
            max(found.clicks.count, found.checks.count, found.events.count) < HeldData.maximumClicks
        found.sums = try await sums(of: found, subject)
        return found
    }

    /// Adds the events of a subject, and the matches that events are credited to, with their clicks.
    ///
    /// These are the rows of the subject's clicks, of its installation and user, and of the installations that its clicks
    /// matched. The claim of a click need not name the installation of its match: the installation may have got an answer
    /// that another installation lost, or an event may have named both the installation and the click.
    private func addEvents(
        of subject: DataSubject,
        _ scope: Scope,
        _ erased: [Int64],
        to found: inout SubjectRows
    ) async throws(StoreError) {
        var subjects = EventSubjects(scope)
        subjects.installs = subject.installs(isTest: scope.isTest)
        subjects.users = subject.users(isTest: scope.isTest)
        subjects.clicks = erased + found.clicks.filter { $0.click.scope == scope }.map(\.click.number)
        if case .click(let id) = subject.key { subjects.clicks.append(Int64(bitPattern: id.high)) }
        guard !subjects.isEmpty else { return }
        let known = subjects
        let rows = try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            var subjects = known
            let installs = try reader.attributedInstalls(subjects)
            var homes: [ClickHome] = []
            let clicks = Set(known.clicks)
            for match in installs where !clicks.contains(match.number) {
                let click = match.attribution.click
                guard let home = try reader.home(ofClick: click.high), home.click.id == click else {
                    continue
                }
                homes.append(home)
            }
            subjects.installs += installs.compactMap(\.install)
            subjects.clicks += installs.map(\.number)
            let limit = HeldData.maximumClicks
            let events = try reader.events(of: subjects, onlyWaiting: false, atMost: limit)
            return (installs: installs, homes: homes, events: events)
        }
        found.installs += rows.installs
        found.clicks += rows.homes
        found.events += rows.events
    }

    /// Passes the records of the scopes' checks that `isWanted` accepts to `body`, part by part, until `body`
    /// returns false.
    ///
    /// Each part reads a limited number of records of all apps, because other long reads wait meanwhile.
    private func forEachPart(
        of scopes: [Scope],
        where isWanted: @escaping @Sendable (CheckRecord) -> Bool,
        _ body: ([CheckRecord]) -> Bool
    ) async throws(StoreError) {
        let limit = 8192
        var last: Int64? = 0
        while let after = last {
            let part = try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
                var (wanted, count, end): ([CheckRecord], Int, Int64) = ([], 0, after)
                let rows = NumberedRows(.ascending, after: after, limit: limit, isJoined: false)
                try reader.checks(rows) { check in
                    (count, end) = (count + 1, check.number)
                    let record = check.record
                    if scopes.contains(record.scope), isWanted(record) { wanted.append(record) }
                    return true
                }
                return (wanted: wanted, last: count < limit ? nil : end)
            }
            last = body(part.wanted) ? part.last : nil
        }
    }

    private func clicks(of subject: DataSubject, _ scope: Scope) async throws(StoreError) -> [ClickHome] {
        let limit = HeldData.maximumClicks
        if case .address(_, _, let since) = subject.key {
            return try await clicks(from: since, scope, limit) { subject.has($0.address) }
        }
        var claimed: Set<UInt64> = []
        if case .install = subject.key {
            for install in subject.installs(isTest: scope.isTest) {
                claimed.formUnion(try await clicks(ofInstall: install, scope))
            }
        }
        return try await loop.readInBackground { [claimed] reader throws(Backend.Reader.Failure) in
            var numbers = claimed
            switch subject.key {
            case .click(let id): numbers = [id.high]
            case .fingerprint(let keys):
                for key in keys {
                    for areOpen in [true, false] {
                        let rows = try reader.indexedClicks(of: key, scope, areOpen: areOpen, atMost: limit)
                        numbers.formUnion(rows.map(\.click))
                    }
                }
            case .install, .user, .address: break
            }
            var homes: [ClickHome] = []
            for number in numbers.sorted().prefix(limit) {
                guard let home = try reader.home(ofClick: number), home.click.scope == scope else { continue }
                if case .click(let id) = subject.key, home.click.id != id { continue }
                homes.append(home)
            }
            return homes
        }
    }

    /// Returns clicks that an installation has claimed; other long reads may run between two parts.
    private func clicks(ofInstall install: KeyedHash, _ scope: Scope) async throws(StoreError)
        -> Set<UInt64>
    {
        var (numbers, next): (Set<UInt64>, Int64?) = ([], 0)
        while let position = next, numbers.count < HeldData.maximumClicks {
            let part = try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
                try reader.clicks(ofInstall: install, in: scope, from: position)
            }
            numbers.formUnion(part.clicks)
            next = part.next
        }
        return numbers
    }

    /// Reads a scope's clicks from a time on, and returns those that `isWanted` accepts.
    private func clicks(
        from time: Timestamp,
        _ scope: Scope,
        _ limit: Int,
        where isWanted: @escaping @Sendable (ClickRecord) -> Bool
    ) async throws(StoreError) -> [ClickHome] {
        let readAtOnce = 4096
        var homes: [ClickHome] = []
        var last: Int64? = RowIdentifier.first(at: time) - 1
        while let after = last, homes.count < limit {
            let part = try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
                var (wanted, count, end): ([UInt64], Int, Int64) = ([], 0, after)
                // As with checks, the limit counts the clicks of all apps.
                let rows = NumberedRows(.ascending, after: after, limit: readAtOnce, isJoined: false)
                try reader.clicks(rows) { click, _ in
                    (count, end) = (count + 1, click.record.number)
                    if click.record.scope == scope, isWanted(click.record) {
                        wanted.append(click.record.id.high)
                    }
                    return true
                }
                var homes: [ClickHome] = []
                for number in wanted { if let home = try reader.home(ofClick: number) { homes.append(home) } }
                return (homes: homes, last: count < readAtOnce ? nil : end)
            }
            homes += part.homes
            last = part.last
        }
        return homes
    }

    /// Returns the stored sums by the hashes of rows.
    ///
    /// If a check outside `found` has the hash of a sum, the sum also counts other people's launches. Such a sum
    /// stays, unless the subject is that hash.
    private func sums(of found: SubjectRows, _ subject: DataSubject) async throws(StoreError)
        -> Set<LearntSum>
    {
        let possible = found.possibleSums.union(subject.sums(in: found.scopes))
        guard !possible.isEmpty else { return [] }
        let stored = try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            var stored: Set<LearntSum> = []
            for sum in possible {
                let (key, family) = (sum.number, sum.key.family)
                let after = key == .min ? key : key - 1
                let rows = try reader.learntSums(of: sum.scope, family, after: after, atMost: 1)
                if rows.first?.key == key { stored.insert(sum) }
            }
            return stored
        }
        var sums = stored
        let own = Set(found.checks.map(\.id))
        let subjects = subject.sums(in: found.scopes)
        guard !sums.isSubset(of: subjects) else { return sums }
        try await forEachPart(of: found.scopes) { check in
            !own.contains(check.id) && !check.sums.isDisjoint(with: stored)
        } _: { others in
            for check in others { sums.subtract(check.sums.subtracting(subjects)) }
            return !sums.isSubset(of: subjects)
        }
        return sums
    }
}

extension DataSubject {
    /// The learnt sums by the subject's own hashes.
    fileprivate func sums(in scopes: [Scope]) -> Set<LearntSum> {
        var keys: [CounterKey] = []
        switch key {
        case .fingerprint(let hashes): keys = hashes.map { CounterKey(.organic, $0.index) }
        case .address(let words, let isNetwork, _):
            keys = words.map { CounterKey(isNetwork ? .launchesNearAddress : .launchesAtAddress, $0) }
        case .click, .install, .user: break
        }
        return Set(scopes.flatMap { scope in keys.map { LearntSum(scope: scope, key: $0) } })
    }
}
