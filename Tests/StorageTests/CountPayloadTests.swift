import Attribution
import Storage
import Support
import Testing

@Suite("Counts as bytes")
struct CountPayloadTests {
    static let scope = Scope(app: 1, isTest: false)

    /// Returns counts, links and values of random size.
    static func random(seed: UInt64) -> CountPayload {
        var random = SeededGenerator(seed: seed)
        var payload = CountPayload()
        func number() -> Int64 {
            // Numbers of each length, of both signs.
            let bits = Int64.random(in: .min ... .max, using: &random)
            return bits >> Int64.random(in: 0...63, using: &random)
        }
        func text() -> String {
            ["", "a", "été", String(repeating: "long ", count: 80), "\u{1F600}\0"].randomElement(
                using: &random
            ) ?? ""
        }
        for _ in 0..<Int.random(in: 0...60, using: &random) {
            let key = CountKey(
                scope: Scope(number: number()),
                label: CounterLabel(
                    campaign: Bool.random(using: &random) ? text() : nil,
                    Dimension.allCases.randomElement(using: &random) ?? .total,
                    text()
                ),
                metric: (Metric.allCases.randomElement(using: &random) ?? .clicks).name,
                granularity: Granularity.allCases.randomElement(using: &random) ?? .hour,
                period: Timestamp(milliseconds: number())
            )
            payload.counts.add(number() >> 8, to: key)
        }
        for _ in 0..<Int.random(in: 0...60, using: &random) {
            let slot = CountDeltas.ExpirySlot(scope: Scope(number: number()), time: number())
            payload.counts.addLive(number() >> 8, in: slot)
        }
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            let slot = CountPayload.LinkSlot(link: number(), variant: text())
            payload.links[slot] = LinkCounts(clicks: Int(number()), robots: 0, matches: Int(number()))
        }
        for name in [StoredValue.keptChecks, .unrecordedChecks] where Bool.random(using: &random) {
            payload.values[name] = number()
        }
        return payload
    }

    @Test(
        "counts are the same after they were written as bytes and read",
        arguments: 0..<200 as Range<UInt64>
    )
    func roundTrip(seed: UInt64) {
        let payload = Self.random(seed: seed)
        #expect(CountPayload(payload.bytes) == payload)
    }

    @Test("damaged bytes are refused or read, and never stop the program")
    func refuses() {
        var random = SeededGenerator(seed: 1)
        let bytes = Self.random(seed: 7).bytes
        for length in 0..<bytes.count { #expect(CountPayload(Array(bytes.prefix(length))) == nil) }
        #expect(CountPayload(bytes + [0]) == nil)
        #expect(CountPayload([2] + bytes.dropFirst()) == nil, "a newer version")
        for _ in 0..<2000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: damaged.indices, using: &random)
                damaged[index] = UInt8.random(in: .min ... .max, using: &random)
            }
            _ = CountPayload(damaged)
        }
        let hostile: [[UInt8]] = [
            [], [1], [1, 0x80], [1] + [UInt8](repeating: 0xff, count: 12),
            [1, 2, 0xfe, 0xff, 0xff, 0xff, 0x0f],
            [1, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f],
        ]
        for bytes in hostile { #expect(CountPayload(bytes) == nil) }
    }

    @Test("the counts of a batch of 64 clicks need less than 1,000 bytes")
    func isSmall() throws {
        var payload = CountPayload()
        for index in 0..<64 as Range<Int64> {
            let facts = try NewClick.sample(at: TestStore.noon.advanced(byMilliseconds: index * 500)).facts
            let labels = CountedTraits(facts).labels { _, name in name }
            payload.counts.add(1, .clicks, to: labels, of: Self.scope, at: facts.recordedAt)
            payload.counts.addLive(1, of: Self.scope, expiringAt: facts.expiresAt)
        }
        payload.values[.keptChecks] = 12
        #expect(payload.bytes.count < 1000)
    }

    @Test("merged payloads have the sums of both")
    func merges() {
        let (one, other) = (Self.random(seed: 3), Self.random(seed: 4))
        var sum = one
        sum.merge(other)
        sum.merge(one)
        for (key, count) in one.counts.counts {
            #expect(sum.counts.counts[key] == 2 * count + (other.counts.counts[key] ?? 0))
        }
        for (slot, change) in other.counts.live {
            #expect(sum.counts.live[slot] == change + 2 * (one.counts.live[slot] ?? 0))
        }
        var links = CountPayload()
        let slot = CountPayload.LinkSlot(link: 1, variant: "b")
        links.links[slot] = LinkCounts(clicks: 2, robots: 1, matches: 0)
        links.values[.keptChecks] = 5
        links.merge(links)
        #expect(links.links[slot] == LinkCounts(clicks: 4, robots: 2, matches: 0))
        #expect(links.values == [.keptChecks: 10])
        #expect(!links.isEmpty)
        #expect(CountPayload().isEmpty)
    }
}

@Suite("Names of counts that are merged later")
struct LateAdmissionTests {
    private static let scopes = [Scope(app: 1, isTest: false), Scope(app: 2, isTest: true)]

    /// Clicks with names from a small set, in the two days around a midnight.
    private static func clicks(seed: UInt64) throws -> [(Scope, Click.Facts)] {
        var random = SeededGenerator(seed: seed)
        let midnight = Granularity.day.start(of: TestStore.noon).milliseconds
        return try (0..<300).map { _ in
            let time = Timestamp(
                milliseconds: midnight + .random(in: -86_400_000..<86_400_000, using: &random)
            )
            let facts = try NewClick.sample(at: time) { facts in
                facts.source = [.instagram, .unknown].randomElement(using: &random) ?? .direct
                facts.rawSource = "source \(Int.random(in: 0...20, using: &random))"
                facts.campaignKey = CampaignKey("campaign \(Int.random(in: 0...20, using: &random))")
                facts.osVersion = "17.\(Int.random(in: 0...20, using: &random))"
            }.facts
            return (scopes.randomElement(using: &random) ?? scopes[0], facts)
        }
    }

    @Test(
        "a merge admits names within the limits as counting event by event does",
        arguments: 0..<10 as Range<UInt64>
    )
    func agrees(seed: UInt64) throws {
        var (direct, raw) = (CountDeltas(), CountDeltas())
        var names = AdmittedNames()
        for (scope, facts) in try Self.clicks(seed: seed) {
            let (traits, time) = (CountedTraits(facts), facts.recordedAt)
            let labels = traits.labels { dimension, name in
                names.admit(name, dimension, of: scope, at: time) { _ in [] }
            }
            direct.add(1, .clicks, to: labels, of: scope, at: time)
            raw.add(1, .clicks, to: traits.labels { $1 }, of: scope, at: time)
            for side in DriftSide.allCases {
                raw.addDrift(DriftCount(trials: 1), to: side, facts.driftGroup.name, of: scope, at: time)
                direct.addDrift(DriftCount(trials: 1), to: side, facts.driftGroup.name, of: scope, at: time)
            }
            raw.addLive(1, of: scope, expiringAt: facts.expiresAt)
            direct.addLive(1, of: scope, expiringAt: facts.expiresAt)
        }
        var later = AdmittedNames()
        #expect(raw.admitted(by: &later) { _, _, _ in [] } == direct)
    }

    @Test("events of many days in turn keep to the limit of each day, whose names are read once")
    func manyDays() {
        var (names, reads, admitted) = (AdmittedNames(), 0, Set<String>())
        func time(_ days: Int) -> Timestamp {
            TestStore.noon.advanced(byMilliseconds: Int64(days) * -86_400_000)
        }
        for index in 0..<600 {
            let (days, name) = (index % 3, "event_\(index)")
            let counted = names.admit(name, .event, of: Self.scopes[0], at: time(days)) { _ in
                reads += 1
                return []
            }
            if days == 2 { admitted.insert(counted) }
        }
        #expect(reads == 3)
        #expect(admitted.count == 101 && admitted.contains("other"))
        names.forgetOldSpans()
        for days in [0, 1, 2] {
            _ = names.admit("late", .event, of: Self.scopes[0], at: time(days)) { _ in
                reads += 1
                return []
            }
        }
        #expect(reads == 4, "only two days stay in memory")
    }

    @Test("all spellings of one text are counted under the first one")
    func spellings() {
        var names = AdmittedNames()
        let admitted = ["\u{e9}\u{e9}", "\u{e9}e\u{301}", "e\u{301}e\u{301}"].map { name in
            names.admit(name, .campaign, of: Self.scopes[0], at: TestStore.noon) { _ in [] }
        }
        #expect(Set(admitted.map { Array($0.utf8) }) == [Array("\u{e9}\u{e9}".utf8)])
    }

    @Test("names beyond a day's limit are counted together, and the sums stay")
    func limits() {
        let (scope, day) = (Self.scopes[0], Granularity.day.start(of: TestStore.noon))
        var raw = CountDeltas()
        // The names are of two hours of one day, and the limit applies to the day.
        for index in 0..<10_100 {
            let hour = day.advanced(byMilliseconds: Int64(index % 2) * 3_600_000)
            let label = CounterLabel(campaign: "campaign \(index)", .total)
            raw.add(2, .clicks, to: [label], of: scope, at: hour)
        }
        var names = AdmittedNames()
        var spans: [Timestamp] = []
        let stored = (0..<50).map { "stored \($0)" } + ["other"]
        let admitted = raw.admitted(by: &names) { dimension, of, period in
            #expect(dimension == .campaign && of == scope)
            spans.append(period)
            return stored
        }
        #expect(spans == [day], "a span's names are read once")
        let campaigns = Set(admitted.counts.keys.compactMap(\.label.campaign))
        #expect(campaigns.count == 10_000 - 50 + 1)
        #expect(campaigns.contains("other"))
        #expect(admitted.counts.values.reduce(0, +) == 20_200)
        // A stored name stays admitted without another read; a new name counts as `other`.
        let late = CounterLabel(campaign: "stored 7", .total)
        var more = CountDeltas()
        more.add(1, .clicks, to: [late, CounterLabel(campaign: "new", .total)], of: scope, at: day)
        let again = more.admitted(by: &names) { _, _, _ in [] }
        #expect(Set(again.counts.keys.map(\.label.campaign)) == ["stored 7", "other"])
    }
}
