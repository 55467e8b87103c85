import Attribution
import Testing

@Suite("Google Play's report on an installation")
struct PlayFindingTests {
    private static let noon = TestValues.noon
    private static let click = ClickID(high: 5, low: 6)
    private static let noonSeconds = noon.milliseconds / 1000

    /// Returns a report with times relative to noon; nil for a time that Play does not know.
    private static func install(
        click: Int64?,
        begin: Int64?,
        clickOnDevice: Int64? = nil,
        beginOnDevice: Int64? = nil
    ) -> PlayInstall {
        var install = PlayInstall()
        install[.storeClick] = click.map { noonSeconds + $0 }
        install[.installBegin] = begin.map { noonSeconds + $0 }
        install[.storeClickOnDevice] = clickOnDevice.map { noonSeconds + $0 }
        install[.installBeginOnDevice] = beginOnDevice.map { noonSeconds + $0 }
        return install
    }

    /// Returns the finding of a launch one hour after noon.
    private static func finding(
        _ evidence: PlayEvidence,
        of click: ClickID = click,
        at clickedAt: Timestamp = noon
    ) -> PlayFinding? {
        evidence.finding(of: click, at: clickedAt, launchedAt: noon.advanced(byMilliseconds: 3_600_000))
    }

    private static let cases: [(PlayInstall, PlayFinding?)] = [
        (install(click: 30, begin: 60), nil),
        // The installation begins in the second of the store click, or a second before.
        (install(click: 30, begin: 30), nil), (install(click: 30, begin: 29), .clickInjection),
        // The store click comes 120 s before the click, or 1800 s after it, or a second more.
        (install(click: -120, begin: 0), nil), (install(click: -121, begin: 0), .clickSpamming),
        (install(click: 1800, begin: 1900), nil), (install(click: 1801, begin: 1900), .clickSpamming),
        // An installation that began before a store click outside of the bounds.
        (install(click: 1801, begin: 1800), .clickInjection),
        // One of Google's times is missing, or both.
        (install(click: nil, begin: 60), .noServerTimes), (install(click: 30, begin: nil), .noServerTimes),
        (install(click: nil, begin: nil), .noServerTimes),
        (install(click: nil, begin: nil, clickOnDevice: 30, beginOnDevice: 60), .noServerTimes),
        (install(click: nil, begin: nil, clickOnDevice: 30, beginOnDevice: 30), .noServerTimes),
        (install(click: nil, begin: nil, clickOnDevice: 30, beginOnDevice: 29), .clickInjection),
        (install(click: 30, begin: nil, clickOnDevice: 30, beginOnDevice: 29), .clickInjection),
        (install(click: nil, begin: nil, clickOnDevice: 30), .noServerTimes),
        // If Google's times are known, the times of the device's clock do not count.
        (install(click: 30, begin: 60, clickOnDevice: 30, beginOnDevice: 29), nil),
        (install(click: 30, begin: 60, clickOnDevice: 9_000, beginOnDevice: 9_030), nil),
        // Google's clock may be five minutes ahead of Afterlink's; a later begin does not count.
        (install(click: 30, begin: 3900), nil), (install(click: 30, begin: 3901), .noServerTimes),
        (install(click: 30, begin: 2_000_000_000), .noServerTimes),
        (install(click: 30, begin: 3901, clickOnDevice: 30, beginOnDevice: 29), .clickInjection),
    ]

    @Test("has a finding by the order of its times and their distance from the click", arguments: cases)
    func finding(install: PlayInstall, finding: PlayFinding?) {
        let evidence = PlayEvidence(install, referrer: "al=\(Self.click.text)")
        #expect(Self.finding(evidence) == finding)
    }

    @Test("is compared with the click in whole seconds", arguments: [0, 1, 999])
    func fractions(milliseconds: Int64) {
        let clickedAt = Self.noon.advanced(byMilliseconds: milliseconds)
        for (seconds, finding) in [(-121, .clickSpamming), (-120, nil), (1800, nil), (1801, .clickSpamming)]
            as [(Int64, PlayFinding?)]
        {
            let install = Self.install(click: seconds, begin: seconds)
            let evidence = PlayEvidence(install, referrer: "al=\(Self.click.text)")
            #expect(Self.finding(evidence, at: clickedAt) == finding, "\(seconds)")
        }
    }

    @Test("is compared within the bounds of the setting")
    func bounds() throws {
        var evidence = PlayEvidence(Self.install(click: 0, begin: 0), referrer: Self.click.text)
        #expect(evidence.click == nil, "a referrer consists of named values, so a plain id names no click")
        evidence = PlayEvidence(Self.install(click: -1, begin: 0), referrer: "al=\(Self.click.text)")
        evidence.bounds = try #require(PlayBounds("0:5"))
        #expect(Self.finding(evidence) == .clickSpamming)
        evidence.bounds = try #require(PlayBounds("1:0"))
        #expect(Self.finding(evidence) == nil)
    }

    @Test("concerns the click that its referrer names, by a token or an identifier, and no other click")
    func otherClick() throws {
        let key = try #require(ServerKey(bytes: Array(0..<32)))
        let token = ClickToken(for: Self.click, of: TestValues.app, expiresAt: Self.noon, signedBy: key).text
        for referrer in ["al=\(token)&utm_source=x", "al%3D\(token)", "click_id=\(Self.click.text)"] {
            let evidence = PlayEvidence(PlayInstall(), referrer: referrer)
            #expect(evidence.click == Self.click, "\(referrer)")
            #expect(Self.finding(evidence) == .noServerTimes)
            #expect(Self.finding(evidence, of: ClickID(high: 5, low: 7)) == nil)
        }
        for referrer in [nil, "utm_source=google-play&utm_medium=organic", "al=nonsense"] {
            let evidence = PlayEvidence(PlayInstall(), referrer: referrer)
            #expect(Self.finding(evidence) == nil, "\(referrer ?? "")")
        }
    }

    @Test(
        "lowers a certain match to a confidence of one half, without a guarantee",
        arguments: PlayFinding.allCases
    )
    func confidence(finding: PlayFinding) {
        for method in [AttributionMethod.signedToken, .clickID] {
            let choice = ClickChoice(Self.click, method: method, finding: finding)
            #expect(choice.method == method && choice.confidence == 0.5)
            let claim = Claim(
                click: TestValues.click(5),
                claimedAt: Self.noon,
                method: method,
                confidence: choice.confidence
            )
            #expect(claim.hasFinding && !claim.isGuaranteed)
        }
    }

    @Test("a match without a finding is guaranteed if a token identified the click")
    func guaranteed() {
        func claim(_ method: AttributionMethod, _ confidence: Double?) -> Claim {
            Claim(click: TestValues.click(5), claimedAt: Self.noon, method: method, confidence: confidence)
        }
        #expect(claim(.signedToken, 0.99).isGuaranteed)
        #expect(claim(.signedToken, nil).isGuaranteed, "old claims have no confidence")
        #expect(!claim(.clickID, 0.95).isGuaranteed && !claim(.clickID, 0.95).hasFinding)
        #expect(!claim(.fingerprint, 0.5).hasFinding && !claim(.fingerprint, 0.5).isGuaranteed)
        #expect(ClickChoice(Self.click, method: .signedToken).confidence == 0.99)
    }

    @Test("is written as a text with Play's names, and read again")
    func text() {
        var install = Self.install(click: 1, begin: 2, clickOnDevice: 3, beginOnDevice: 4)
        (install.version, install.isInstant) = ("2.1 (a&b=\u{0}é)", false)
        #expect(PlayInstall(text: install.text) == install)
        #expect(install.text.contains("referrerClickTimestampServerSeconds=\(Self.noonSeconds + 1)&"))
        #expect(!install.text.contains("\u{0}"), "PostgreSQL stores no such text")
        #expect(PlayInstall(text: "") == PlayInstall() && PlayInstall().text.isEmpty)
        install[.storeClick] = 0
        #expect(install[.storeClick] == nil, "Play writes 0 for a time that it does not know")
        let odd = "installBeginTimestampServerSeconds=-1&referrerClickTimestampSeconds=x&unknown=7"
        #expect(PlayInstall(text: odd) == PlayInstall())
    }

    @Test(
        "the bounds are two whole numbers of seconds up to a day",
        arguments: [
            ("120:1800", true), ("0:0", true), ("86400:86400", true), ("86401:0", false), ("0:86401", false),
            ("120", false), ("120:", false), (":1800", false), ("-1:5", false), ("+1:5", false),
            ("1:2:3", false), ("1.5:2", false), ("", false), ("99999999999999999999:1", false),
        ]
    )
    func bounds(text: String, isAllowed: Bool) {
        let bounds = PlayBounds(text)
        #expect(bounds?.text == (isAllowed ? text : nil))
    }
}
