/// What became of a click that no check is known to have been answered with.
public struct ClickExplanation: Equatable, Sendable {
    /// What a store has for it.
    public let material: ClickExplanationInput
    /// Whether the app recognises launches by fingerprints at present.
    public let usesFingerprints: Bool
    /// When it is explained.
    public let now: Timestamp

    public init(_ material: ClickExplanationInput, usesFingerprints: Bool, at now: Timestamp) {
        self.material = material
        self.usesFingerprints = usesFingerprints
        self.now = now
    }

    public var click: KnownClick { material.click }

    /// What it would be to a check now: never ``KnownClick/State/answered``.
    public var state: KnownClick.State { click.state(at: now, isAnswer: false) }
}

/// What a store has for the explanation of a click.
public struct ClickExplanationInput: Equatable, Sendable {
    public var click: KnownClick
    public var app: AppID
    public var isTest: Bool
    /// By how many fingerprints and advertising ids it can be found; 0: by its token alone.
    public var keyCount: Int
    /// Whether checks that look for the first of them come across it, live or closed.
    public var isIndexed: Bool
    /// Checks from its time on, until it expired, that it had something in common with: the nearest first.
    public var near: [RelatedCheck]
    /// Records that were looked through for them.
    public var searchedChecks: Int
    /// Whether that was all of them.
    public var hasSearchedAll: Bool

    /// How many near checks are told.
    public static let nearLimit = 8

    public init(
        _ click: KnownClick,
        app: AppID,
        isTest: Bool,
        keyCount: Int,
        isIndexed: Bool = true,
        near: [RelatedCheck] = [],
        searchedChecks: Int = 0,
        hasSearchedAll: Bool = true
    ) {
        self.click = click
        self.app = app
        self.isTest = isTest
        self.keyCount = keyCount
        self.isIndexed = isIndexed
        self.near = near
        self.searchedChecks = searchedChecks
        self.hasSearchedAll = hasSearchedAll
    }
}

/// A check that came near a click without being answered with it.
public struct RelatedCheck: Equatable, Sendable {
    /// What they have in common; the first is the nearest.
    public enum Relation: String, CaseIterable, Comparable, Sendable {
        /// The click was among the likeliest.
        case weighed
        case sameFingerprint = "same_fingerprint"
        case sameAddress = "same_address"
        /// The network around it.
        case nearAddress = "near_address"

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        public static func < (left: Relation, right: Relation) -> Bool { left.rank < right.rank }
    }

    public let record: RecordedCheck
    public let relation: Relation

    public init(_ record: RecordedCheck, _ relation: Relation) {
        self.record = record
        self.relation = relation
    }
}
