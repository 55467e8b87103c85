import Attribution

// Initialisers with which a test creates a value in one expression.

extension DeviceSignals {
    init(
        model: String? = nil,
        osVersion: String? = nil,
        screenWidth: Double? = nil,
        screenHeight: Double? = nil,
        pixelRatio: Double? = nil,
        timezone: String? = nil,
        language: String? = nil,
        languages: [String]? = nil,
        touchPoints: Int? = nil,
        uaModel: String? = nil,
        uaPlatformVersion: String? = nil
    ) {
        self.init()
        self.model = model
        self.osVersion = osVersion
        self.screenWidth = screenWidth
        self.screenHeight = screenHeight
        self.pixelRatio = pixelRatio
        self.timezone = timezone
        self.language = language
        self.languages = languages
        self.touchPoints = touchPoints
        self.uaModel = uaModel
        self.uaPlatformVersion = uaPlatformVersion
    }
}

extension NativeSignals {
    init(
        platform: Platform = .unknown,
        model: String? = nil,
        machine: String? = nil,
        osVersion: String? = nil,
        screenWidth: Double? = nil,
        screenHeight: Double? = nil,
        scale: Double? = nil,
        timezone: String? = nil,
        language: String? = nil,
        languages: [String]? = nil
    ) {
        self.init(platform: platform)
        self.model = model
        self.machine = machine
        self.osVersion = osVersion
        self.screenWidth = screenWidth
        self.screenHeight = screenHeight
        self.scale = scale
        self.timezone = timezone
        self.language = language
        self.languages = languages
    }
}

extension CanonicalSignals {
    init(
        platform: Platform,
        model: String? = nil,
        system: OSVersionReading = .unknown,
        screen: ScreenSize? = nil,
        scale: Double? = nil,
        panelWidth: Int? = nil,
        timezone: String? = nil,
        givenTimezone: String? = nil,
        languages: [String] = []
    ) {
        self.init(platform: platform)
        self.model = model
        self.system = system
        self.screen = screen
        self.scale = scale
        self.panelWidth = panelWidth
        self.timezone = timezone
        self.givenTimezone = givenTimezone ?? timezone
        self.languages = languages
    }
}

extension SourceSignals {
    init(
        linkItems: [QueryItem] = [],
        source: String? = nil,
        utmSource: String? = nil,
        referer: String? = nil,
        userAgent: String? = nil
    ) {
        self.init(linkItems: linkItems)
        self.source = source
        self.utmSource = utmSource
        self.referer = referer
        self.userAgent = userAgent
    }
}

extension AddressTraffic {
    init(
        clicksExact: Double = 0,
        clicksNear: Double = 0,
        liveClicks: Double = 0,
        launchesExact: Double = 0,
        launchesNear: Double = 0
    ) {
        self.init()
        self.clicksExact = clicksExact
        self.clicksNear = clicksNear
        self.liveClicks = liveClicks
        self.launchesExact = launchesExact
        self.launchesNear = launchesNear
    }
}

extension CandidateEvidence {
    init(
        candidates: [Candidate],
        background: [BackgroundCount] = [],
        addressTraffic: AddressTraffic = AddressTraffic(),
        organic: Double = 0
    ) {
        self.init()
        self.candidates = candidates
        self.background = background
        self.addressTraffic = addressTraffic
        self.organic = organic
    }
}

extension RecordedAnswer {
    init(
        _ outcome: CheckOutcome,
        click: UInt64? = nil,
        method: AttributionMethod? = nil,
        reason: NoMatchReason? = nil,
        probability: Double? = nil,
        organicShare: Double? = nil
    ) {
        self.init(outcome)
        self.click = click
        self.method = method
        self.reason = reason
        self.probability = probability
        self.organicShare = organicShare
    }
}

extension ExplanationInput {
    init(record: RecordedCheck, sameFingerprint: [KnownClick] = [], recent: [KnownClick] = []) {
        self.init(record: record)
        self.sameFingerprint = sameFingerprint
        self.recent = recent
    }
}

extension ClientHints {
    init(_ platform: String, _ mobile: String, _ model: String, _ version: String) {
        let values = ["platform": platform, "mobile": mobile, "model": model, "platform-version": version]
        self.init(fields: { values[String($0.dropFirst("sec-ch-ua-".count))] })
    }
}

extension FingerprintSearch {
    /// Returns the input that hashes to a fingerprint; nil if none is found within the limit.
    func input(of fingerprint: Fingerprint, near candidates: [FingerprintInput]) -> FingerprintInput? {
        find(near: candidates) { $0 == fingerprint }.input
    }
}

extension CollisionCount {
    /// Returns the report over all rows of a sequence.
    static func of(
        _ rows: some Sequence<CollisionRow>,
        windows: [AttributionWindow]
    ) -> [PlatformForm: [FingerprintSharing]] {
        var count = CollisionCount(windows: windows)
        for row in rows { count.add(row) }
        return count.finished()
    }
}
