public import Attribution

/// The reads that counting needs in the open transaction.
public protocol CountReader {
    associatedtype Failure: Error
    /// Returns the names that have counts in a span, which starts at `period`; for drift, also every watched group.
    func countedNames(of dimension: Dimension, _ scope: Scope, in period: Timestamp) throws(Failure)
        -> [String]
    /// Returns the name of a campaign that is known by its hash.
    ///
    /// The name comes from the click in `expected` or, if there is none, from an open click of the fingerprint in
    /// `expected`; nil if no click is found.
    func campaign(hashed hash: UInt64, _ expected: PendingCheckRecords.Expected, in scope: Scope)
        throws(Failure) -> String?
}

/// The counts that the open transaction adds: gathered in memory, and written once before the commit.
///
/// A write is added after its last statement that can fail, so that a write that is undone adds nothing.
struct BatchTotals: Sendable {
    /// An event of a click, with everything that its labels are made of.
    private struct Event: Hashable {
        let metric: Metric
        let traits: CountedTraits
        let scope: Scope
        let hour: Timestamp
        var match: Match?

        init(_ metric: Metric, of facts: Click.Facts, _ scope: Scope, at time: Timestamp) {
            (self.metric, traits, self.scope) = (metric, CountedTraits(facts), scope)
            hour = Granularity.hour.start(of: time)
        }
    }

    /// What is counted of a match in addition to the event of its click.
    private struct Match: Hashable {
        /// The platform of the check.
        let platform: Platform
        let method: AttributionMethod
        let delayBin: Int
        let finding: PlayFinding?
    }

    private(set) var counts = CountDeltas()
    /// How often each event happened.
    ///
    /// ``gather(by:)`` adds the dozen labels of an event to ``counts``, so that a batch hashes them once, and not for
    /// each click.
    private var events: [Event: Int64] = [:]
    private var drift = DriftBatch()
    private var names = AdmittedNames()
    /// Whether names beyond the limits are counted together here; if not, the job that adds up the counts limits the
    /// names.
    private let admitsNames: Bool
    /// Names of campaigns by their hash.
    private var campaigns: [UInt64: String] = [:]

    /// The maximum number of campaign names in memory; at the maximum all are dropped, and read again when needed.
    private static let maximumCampaigns = 20_000

    init(admitsNames: Bool) { self.admitsNames = admitsNames }

    /// Adds a recorded click; it counts as a live click until `end`, the last time at which its fingerprint finds it.
    ///
    /// `end` is nil for a click that never matches, because its visitor asked not to be tracked.
    mutating func addClick(_ facts: Click.Facts, until end: Timestamp?, of scope: Scope) {
        events[
            Event(facts.isRobot ? .robots : .clicks, of: facts, scope, at: facts.recordedAt),
            default: 0
        ] += 1
        guard !facts.isRobot else { return }
        drift.add(DriftCount(trials: 1), of: facts.driftGroup, in: scope, at: facts.recordedAt)
        if let end { counts.addLive(1, of: scope, expiringAt: end) }
    }

    /// Adds a repeated post of a click.
    mutating func addDuplicate(of first: Click.Facts, at now: Timestamp, _ scope: Scope) {
        events[Event(.duplicates, of: first, scope, at: now), default: 0] += 1
    }

    /// Adds a claim; removes its click and the clicks that it retires from the live clicks.
    ///
    /// `retired` has the times at which the retired clicks would have expired.
    mutating func addMatch(_ claim: Claim, _ request: ClaimRequest, retired: [Timestamp], of scope: Scope) {
        let (facts, now, record) = (claim.click.facts, request.at, request.record)
        var event = Event(.matches, of: facts, scope, at: now)
        let delay = record.timeToInstall(since: facts.clickedAt)
        event.match = Match(
            platform: request.platform,
            method: claim.method,
            delayBin: TimeToInstallHistogram.bin(forMilliseconds: delay),
            finding: record.playFinding
        )
        events[event, default: 0] += 1
        drift.add(DriftCount(trials: 1, matches: 1), of: request.launch, in: scope, at: now)
        drift.add(DriftCount(matches: 1), of: facts.driftGroup, in: scope, at: now)
        // The window may have changed since the click. The live clicks then contain the click under its former second of
        // expiry, and lose it when that second has passed.
        let end = request.windows.fingerprintEnd(of: facts)
        for expiry in (retired + [end]) where expiry >= now {
            counts.addLive(-1, of: scope, expiringAt: expiry)
        }
    }

    /// Adds or takes back an event.
    mutating func add<Reader: CountReader>(
        _ counted: EventCounting.Event,
        at now: Timestamp,
        by reader: Reader
    ) throws(Reader.Failure) {
        let (event, isCredit) = (counted.event, counted.change == .credited)
        let (scope, time) = (event.scope, event.occurredAt)
        let name = try admit(event.name, .event, of: scope, at: time, by: reader)
        let value = EventCount.value(name, event.money?.currency)
        var campaign: String?
        var labels = isCredit ? [] : [CounterLabel(.event, value)]
        if let attribution = event.attribution {
            campaign = try attribution.campaign.map { name throws(Reader.Failure) in
                try admit(name, .campaign, of: scope, at: time, by: reader)
            }
            if let campaign { labels.append(CounterLabel(campaign: campaign, .event, value)) }
            labels.append(CounterLabel(.eventSource, "\(attribution.source.rawValue) \(value)"))
            if let link = attribution.link?.text {
                let link = try admit(link, .link, of: scope, at: time, by: reader)
                labels.append(CounterLabel(campaign: link, .eventLink, value))
            }
        }
        // Hours of older days are compacted already.
        let granularity: Granularity = time < StatisticsQuery.firstHour(at: now) ? .day : .hour
        let sign: Int64 = counted.change == .takenBack ? -1 : 1
        let sums: [(metric: String, count: Int64)] = [
            (EventCount.events, sign), (EventCount.installs, counted.isOnly ? sign : 0),
            (event.isVerified ? EventCount.verified : EventCount.reported, sign * (event.money?.amount ?? 0)),
        ]
        for (metric, count) in sums {
            for label in labels { counts.add(count, metric, to: label, of: scope, in: granularity, at: time) }
            if isCredit, metric == EventCount.installs {
                let all = CounterLabel(.event, value)
                counts.add(count, metric, to: all, of: scope, in: granularity, at: time)
            }
            guard let attribution = event.attribution,
                let day = EventCount.cohortDay(of: time, matchedAt: attribution.matchedAt)
            else { continue }
            for campaign in campaign.map({ [nil, $0] }) ?? [nil] {
                let label = CounterLabel(campaign: campaign, .cohort, EventCount.cohortValue(day, value))
                counts.add(count, metric, to: label, of: scope, in: .day, at: attribution.matchedAt)
            }
        }
    }

    /// Removes erased clicks from the live clicks, by the times at which they would have expired.
    mutating func removeLive(_ clicks: [(scope: Scope, at: Timestamp)]) {
        for click in clicks { counts.addLive(-1, of: click.scope, expiringAt: click.at) }
    }

    /// Adds the counts in pending updates of loops.
    mutating func add<Reader: CountReader>(_ updates: PendingUpdates.Content, by reader: Reader)
        throws(Reader.Failure)
    {
        for (replay, times) in updates.replays {
            try add(.replays, times, of: replay.traits, replay.scope, at: replay.hour, by: reader)
            counts.add(times, .checks, to: replay.platform.checkLabels, of: replay.scope, at: replay.hour)
        }
        for (slot, expected) in updates.checks.expected { try add(expected, slot, by: reader) }
        for (slot, bin) in updates.checks.calibration {
            counts.addCalibration(bin, at: slot.index, of: slot.scope, on: slot.day)
        }
        for (ending, times) in updates.noMatches {
            let (labels, scope) = (ending.platform.checkLabels, ending.scope)
            counts.add(times, .checks, to: labels, of: scope, at: ending.hour)
            counts.add(times, .noMatch(ending.reason), to: labels, of: scope, at: ending.hour)
            let launch = ending.launch ?? CountedLaunch(platform: ending.platform)
            drift.add(DriftCount(trials: times), of: launch.group, in: scope, at: ending.hour)
        }
        drift.flush()
    }

    /// Adds the labels of the events, and the counts of watched groups that are due, before the counts are written.
    mutating func gather<Reader: CountReader>(by reader: Reader) throws(Reader.Failure) {
        for (event, times) in events { try add(event, times, by: reader) }
        events.removeAll(keepingCapacity: true)
        for (slot, count) in drift.takeIfDue() {
            let (scope, side) = (slot.scope, slot.group.side)
            let name = try admit(slot.group.name, side.dimension, of: scope, at: slot.period, by: reader)
            counts.addDrift(count, to: side, name, of: scope, at: slot.period)
        }
    }

    /// Clears the counts after they were committed; counts of watched groups that are not due stay.
    mutating func commit() {
        counts.removeAll()
        drift.commit()
        names.forgetOldSpans()
    }

    /// Drops what the transaction added, after it was rolled back.
    mutating func rollback() {
        counts.removeAll()
        events.removeAll(keepingCapacity: true)
        drift.rollback()
        names.forgetAll()
    }

    private mutating func add<Reader: CountReader>(_ event: Event, _ times: Int64, by reader: Reader)
        throws(Reader.Failure)
    {
        let (scope, hour) = (event.scope, event.hour)
        let campaign = try add(event.metric, times, of: event.traits, scope, at: hour, by: reader)
        guard let match = event.match else { return }
        counts.add(times, .checks, to: match.platform.checkLabels, of: scope, at: hour)
        for campaign in campaign.map({ [nil, $0] }) ?? [nil] {
            let method = CounterLabel(campaign: campaign, .method, match.method.rawValue)
            let finding = match.finding.map { CounterLabel(campaign: campaign, .playFinding, $0.rawValue) }
            counts.add(times, .matches, to: [method] + (finding.map { [$0] } ?? []), of: scope, at: hour)
            let delay = CounterLabel(campaign: campaign, .timeToInstall, String(match.delayBin))
            counts.add(times, CountWord.launches, to: delay, of: scope, in: .day, at: hour)
        }
    }

    /// Adds an event of a click, under the names that the day admits.
    ///
    /// - Returns: the name that the click's campaign is counted under; nil without a campaign.
    @discardableResult
    private mutating func add<Reader: CountReader>(
        _ metric: Metric,
        _ times: Int64,
        of traits: CountedTraits,
        _ scope: Scope,
        at time: Timestamp,
        by reader: Reader
    ) throws(Reader.Failure) -> String? {
        var campaign: String?
        let labels = try traits.labels { (dimension, value) throws(Reader.Failure) in
            let admitted = try admit(value, dimension, of: scope, at: time, by: reader)
            if dimension == .campaign { campaign = admitted }
            return admitted
        }
        counts.add(times, metric, to: labels, of: scope, at: time)
        return campaign
    }

    private mutating func add<Reader: CountReader>(
        _ expected: PendingCheckRecords.Expected,
        _ slot: PendingCheckRecords.Slot,
        by reader: Reader
    ) throws(Reader.Failure) {
        var campaign: String?
        switch slot.campaign {
        case .all: break
        case .named(let name): campaign = name
        case .hashed(let hash):
            campaign = try name(ofCampaign: hash, expected, in: slot.scope, by: reader)
            // No click of the campaign was found; it may have been deleted.
            if campaign == nil { return }
        }
        if let name = campaign {
            campaign = try admit(name, .campaign, of: slot.scope, at: slot.hour, by: reader)
        }
        counts.addExpected(expected.sum, of: slot.scope, campaign: campaign, at: slot.hour)
    }

    /// Returns the name of a campaign; reads it only if it is not in memory.
    private mutating func name<Reader: CountReader>(
        ofCampaign hash: UInt64,
        _ expected: PendingCheckRecords.Expected,
        in scope: Scope,
        by reader: Reader
    ) throws(Reader.Failure) -> String? {
        if let known = campaigns[hash] { return known }
        let found = try reader.campaign(hashed: hash, expected, in: scope)
        if campaigns.count >= Self.maximumCampaigns { campaigns = [:] }
        if let found { campaigns[hash] = found }
        return found
    }

    /// Returns the name that a value is counted under in a span of time.
    private mutating func admit<Reader: CountReader>(
        _ name: String,
        _ dimension: Dimension,
        of scope: Scope,
        at time: Timestamp,
        by reader: Reader
    ) throws(Reader.Failure) -> String {
        guard admitsNames else { return name }
        return try names.admit(name, dimension, of: scope, at: time) { period throws(Reader.Failure) in
            try reader.countedNames(of: dimension, scope, in: period)
        }
    }
}
