import Attribution
import Storage
import TestDatabases
import Testing

@Suite("Records of clicks, claims and checks")
struct RecordRoundTripTests {
    /// Expects every member to differ from its default, so that the test notices a member that is never written.
    private func expectNothingDefault<Value>(_ value: Value, _ bare: Value, but exceptions: Set<String> = [])
    {
        for (member, other) in zip(Mirror(reflecting: value).children, Mirror(reflecting: bare).children) {
            guard let label = member.label, !exceptions.contains(label) else { continue }
            #expect(
                String(describing: member.value) != String(describing: other.value),
                "the test gives no value to \(label)"
            )
        }
    }

    private static let address = AddressHashes(exact: .max, near: 5)

    private func fullClick() throws -> NewClick {
        var click = try NewClick.sample(at: TestStore.noon, visit: 3, idempotency: 4)
        click.facts.app = AppID(high: 0, low: 0)
        click.facts.isTest = true
        click.facts.recordedAt = TestStore.noon.advanced(byMilliseconds: 7)
        click.facts.window = try #require(AttributionWindow(seconds: 7200))
        click.facts.rawSource = "IG"
        click.facts.browser = Browser(.webView, version: 131)
        click.facts.isRobot = true
        click.facts.isContradictory = true
        click.facts.variant = "b"
        click.facts.clickIDs = #"{"gclid":"é\u0000"}"#
        click.evidence.canonicalText = "ua|1"
        click.evidence.address = Self.address
        click.evidence.visitor = 9
        return click
    }

    private func bareClick() throws -> NewClick {
        var click = try NewClick.sample(fingerprint: 0, at: Timestamp(milliseconds: 0), visit: 0)
        click.facts = Click.Facts(
            app: AppID(high: 0, low: 0),
            destination: DeepLinkURL(stored: ""),
            journeyID: try #require(JourneyID("j_2")),
            clickedAt: Timestamp(milliseconds: 0),
            recordedAt: Timestamp(milliseconds: 0),
            window: .standard
        )
        return click
    }

    @Test("every value of a click is read as it was written", arguments: backends)
    func keepsClick(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let (full, bare) = (try fullClick(), try bareClick())
        // The row contains the app and the link as numbers.
        expectNothingDefault(full.facts, bare.facts, but: ["app", "link"])
        let id = ClickID(high: 1 << 60, low: .max)
        let record = ClickRecord(full, id: id, scope: Scope(number: 3), hashes: [hash(1), hash(2)], link: 8)
        let other = ClickRecord(
            bare,
            id: ClickID(high: 0, low: 0),
            scope: Scope(number: 0),
            hashes: [],
            link: nil
        )
        expectNothingDefault(record, other)
        let found = try test.place.roundTrip(record, in: "clicks")
        #expect(found == record)
        let app = AppID(high: 1, low: 2)
        let click = try #require(found).click(of: app, link: LinkID(high: 3, low: 4))
        #expect(click.id == id && click.facts.app == app && click.facts.link == LinkID(high: 3, low: 4))
    }

    @Test("every value of an index entry is read as it was written", arguments: backends)
    func keepsIndexEntry(backend: Backend) async throws {
        let test = try await TestStore(backend)
        var full = try fullClick()
        let release = OSRelease(platform: .ios, major: 17, minor: 2)
        full.fingerprints = [FingerprintEntry(form: .d, key: hash(1), weight: 0.25, release: release)]
        full.evidence.signals = SignalHashes(word: 0xffff_ffff)
        let entry = try #require(IndexEntry.all(of: full, 5, in: Scope(number: 3)).first)
        let bare = try #require(IndexEntry.all(of: try bareClick(), 0, in: Scope(number: 0)).first)
        expectNothingDefault(entry, bare)
        expectNothingDefault(entry.record, bare.record)
        let found = try test.place.roundTrip(entry, in: "click_index")
        #expect(found == entry)
    }

    @Test("every value of a claim is read as it was written", arguments: backends)
    func keepsClaim(backend: Backend) async throws {
        let test = try await TestStore(backend)
        let click = Click(id: ClickID(high: 5, low: 6), facts: try fullClick().facts)
        let claim = Claim(
            click: click,
            claimedAt: TestStore.noon,
            method: .fingerprint,
            confidence: 0.5,
            competingClicks: 3,
            isCampaignOnly: true
        )
        var record = ClaimRecord(claim, Scope(number: 3), hash: hash(1), install: hash(2), caller: hash(3))
        record.isUndelivered = true
        let none = Click(id: ClickID(high: 0, low: 0), facts: click.facts)
        let bare = ClaimRecord(
            Claim(click: none, claimedAt: Timestamp(milliseconds: 0), method: .clickID, confidence: nil),
            Scope(number: 0),
            hash: nil,
            install: nil,
            caller: hash(0)
        )
        expectNothingDefault(record, bare)
        let found = try test.place.roundTrip(record, in: "claims")
        #expect(found == record)
        #expect(found?.claim(of: click) == claim)
    }

    @Test("every value of a check is read as it was written", arguments: backends)
    func keepsCheck(backend: Backend) async throws {
        let test = try await TestStore(backend)
        var facts = CheckFacts(at: TestStore.noon, outcome: .match, reason: .ambiguous, fingerprint: hash(1))
        facts.minimumConfidence = 0.25
        facts.namesClick = true
        facts.hasInstallID = true
        facts.platform = .ios
        facts.method = .fingerprint
        facts.confidence = 0.75
        facts.isCampaignOnly = true
        facts.probability = 0.875
        facts.organicShare = 0.125
        facts.candidates = 4
        facts.click = ClickID(high: 5, low: 0)
        facts.platformForm = PlatformForm(platform: .ios, form: .a)
        facts.agreement = .near
        facts.shares = [CheckFacts.Share(click: ClickID(high: 5, low: 0), probability: 1)]
        facts.otherFingerprints = [1, .max]
        facts.address = Self.address
        facts.caller = .max
        facts.firstInstalledAt = TestStore.noon
        facts.weight = 3
        facts.release = OSRelease(platform: .ios, major: 18, minor: 6, isAtLeast: true)
        facts.signals = SignalHashes(word: .max)
        facts.sdkVersion = "ios 1.8.9"
        facts.requestID = "req_a"
        facts.play = PlayInstall()
        facts.play?[.storeClick] = 1_700_000_000
        facts.play?.version = "2.1\u{0}é"
        facts.playFinding = .clickSpamming
        let moment = Timestamp(milliseconds: 0)
        expectNothingDefault(facts, CheckFacts(at: moment, outcome: .noMatch))
        let record = CheckRecord(id: CheckID(high: 1, low: 2), scope: Scope(number: 3), facts: facts)
        let found = try test.place.roundTrip(record, in: "checks")
        #expect(found == record)
    }
}
