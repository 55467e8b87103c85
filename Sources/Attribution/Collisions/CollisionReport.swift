/// How many people share the fingerprints of an app's own clicks, and how many of its matches are expected to be wrong.
///
/// It is worked out from the clicks and the records of checks that are held, and says when.
public struct CollisionReport: Equatable, Sendable {
    /// The clicks that can be found by fingerprints of one form on one platform.
    public struct Form: Equatable, Sendable {
        public var platformForm: PlatformForm
        public var crowding: FingerprintSharing

        public init(platformForm: PlatformForm, crowding: FingerprintSharing) {
            self.platformForm = platformForm
            self.crowding = crowding
        }
    }

    /// When the count ended.
    public var countedAt: Timestamp
    /// The app's window then.
    public var window: AttributionWindow
    /// By platform, then by form; those without a click left out.
    public var forms: [Form]
    /// Recorded matches by a fingerprint.
    public var matches: Int
    /// How many of them are expected to be wrong.
    public var expectedFalse: Double
    /// One standard deviation of ``expectedFalse``.
    public var spread: Double
    /// For each of ``FalseMatchLimit/shares``.
    public var limits: [FalseMatchLimit]

    public init(
        countedAt: Timestamp,
        window: AttributionWindow,
        forms: [Form],
        matches: Int,
        expectedFalse: Double,
        spread: Double,
        limits: [FalseMatchLimit]
    ) {
        self.countedAt = countedAt
        self.window = window
        self.forms = forms
        self.matches = matches
        self.expectedFalse = expectedFalse
        self.spread = spread
        self.limits = limits
    }

    /// The share of matches that is expected to be wrong; nil without a match.
    public var falseShare: Double? { matches > 0 ? expectedFalse / Double(matches) : nil }
}

extension CollisionReport {
    /// - Parameters:
    ///   - crowdings: what ``CollisionCount`` found under the app's window alone.
    ///   - estimate: what the records of the app's checks say.
    ///   - window: the app's window.
    ///   - moment: now.
    public init(
        _ crowdings: [PlatformForm: [FingerprintSharing]],
        _ estimate: FalseMatchEstimate,
        window: AttributionWindow,
        at moment: Timestamp
    ) {
        let forms = crowdings.compactMap { platformForm, crowdings in
            crowdings.first.map { Form(platformForm: platformForm, crowding: $0) }
        }
        self.init(
            countedAt: moment,
            window: window,
            forms: forms.sorted { $0.platformForm.code < $1.platformForm.code },
            matches: estimate.matches,
            expectedFalse: estimate.expectedFalse,
            spread: estimate.spread,
            limits: estimate.limits(within: window)
        )
    }
}

/// The report on one app's collisions.
public struct AppCollisions: Equatable, Sendable {
    public var app: AppID
    public var report: CollisionReport

    public init(app: AppID, report: CollisionReport) {
        self.app = app
        self.report = report
    }
}
