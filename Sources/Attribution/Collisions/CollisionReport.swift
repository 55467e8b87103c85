/// How many people share the fingerprints of an app's clicks, and how many of its matches are expected to be
/// wrong.
///
/// It is computed from the stored clicks and checks, up to ``countedAt``.
public struct CollisionReport: Equatable, Sendable {
    /// The clicks that fingerprints of one form find on one platform.
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
    /// The app's window at that time.
    public var window: AttributionWindow
    /// The forms that have a click, by platform, then by form.
    public var forms: [Form]
    /// The number of recorded matches by a fingerprint.
    public var matches: Int
    /// The number of matches that are expected to be wrong.
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
    ///   - crowdings: the result of a ``CollisionCount`` whose only window is the app's.
    ///   - estimate: the estimate from the records of the app's checks.
    ///   - window: the app's window.
    ///   - moment: the current time.
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
