/// The ways in which a launch may be recognised, the surest first.
///
/// A claim goes up it in one transaction: the first rung that leads to a click which can be claimed decides.
public struct MatchingLadder: Equatable, Sendable {
    /// One way, verified as far as that is possible without the clicks.
    public enum Rung: Hashable, Sendable {
        /// The click of a genuine token.
        case signedToken(ClickID)
        /// The click that was named, by whomever.
        case clickID(ClickID)
        /// Clicks that an ad network put this advertising id on.
        case advertisingID(AdvertisingID.Kind, KeyedHash)

        public var method: AttributionMethod {
            switch self {
            case .signedToken: .signedToken
            case .clickID: .clickID
            case .advertisingID(let kind, _): kind.method
            }
        }
    }

    /// The sure ways, none of them twice.
    public private(set) var rungs: [Rung] = []
    /// The last way: clicks that can be found by one of these, which are weighed against each other and against a launch
    /// that came from no click.
    public private(set) var fingerprints: [KeyedHash] = []
    /// How many of them there are under each server key; those of the present one come first, and the others in the same
    /// order.
    private var countUnderEachKey = 1
    /// Why the first of the tokens that were brought and count for nothing does not: what to say when no rung leads to
    /// a click.
    public private(set) var refusal: ClickTokenError?

    /// - Parameters:
    ///   - evidence: what the launch brought.
    ///   - fingerprints: the client's own, or those made from its signals; none where the app does without.
    ///   - app: whose launch it is.
    ///   - isTest: whether it is a test's.
    ///   - apps: all apps of the server.
    ///   - keys: the present server key first, then those before it under which clicks are still stored.
    ///   - now: when the launch happens.
    public init(
        _ evidence: LaunchEvidence,
        fingerprints: [Fingerprint],
        of app: AppID,
        isTest: Bool,
        among apps: some Sequence<AppID>,
        keys: [ServerKey],
        at now: Timestamp
    ) {
        var named: [Rung] = []
        for reference in evidence.references {
            switch reference {
            case .click(let id): named.append(.clickID(id))
            case .token(let text):
                do throws(ClickTokenError) {
                    let token = try ClickToken(verifying: text, of: app, among: apps, signedBy: keys, at: now)
                    add(.signedToken(token.click))
                } catch {
                    refusal = refusal ?? error
                }
            }
        }
        named.forEach { add($0) }
        for case let id? in [evidence.idfa, evidence.gaid] {
            for key in keys {
                add(.advertisingID(id.kind, key.advertisingID(app: app, isTest: isTest, id: id)))
            }
        }
        for key in keys {
            for hash in fingerprints.map(key.keyed) where !self.fingerprints.contains(hash) {
                self.fingerprints.append(hash)
            }
        }
        countUnderEachKey = max(1, self.fingerprints.count / max(1, keys.count))
    }

    /// The ladder of a launch that has a fingerprint and nothing else: its hashes under each server key, the present one
    /// first.
    public init(fingerprintUnderEachKey hashes: [KeyedHash]) {
        fingerprints = hashes
    }

    /// As above, with a single server key.
    public init(fingerprint: KeyedHash) {
        self.init(fingerprintUnderEachKey: [fingerprint])
    }

    /// A ladder of ways that were verified elsewhere.
    public init(_ rungs: [Rung], fingerprints: [KeyedHash], refusal: ClickTokenError? = nil) {
        self.rungs = rungs
        self.fingerprints = fingerprints
        self.refusal = refusal
        countUnderEachKey = max(1, fingerprints.count)
    }

    /// Whether fingerprints are looked for under more than one server key.
    public var isUnderSeveralKeys: Bool { fingerprints.count > countUnderEachKey }

    /// The first fingerprint under each server key, the present one first.
    public var firstUnderEachKey: [KeyedHash] {
        stride(from: 0, to: fingerprints.count, by: countUnderEachKey).map { fingerprints[$0] }
    }

    /// The advertising ids among the sure ways.
    public var advertisingIDs: [KeyedHash] {
        rungs.compactMap { rung in
            if case .advertisingID(_, let key) = rung { key } else { nil }
        }
    }

    /// Whether it brought what names a click.
    public var namesClick: Bool {
        refusal != nil
            || rungs.contains { rung in
                switch rung {
                case .signedToken, .clickID: true
                case .advertisingID: false
                }
            }
    }

    private mutating func add(_ rung: Rung) {
        if !rungs.contains(rung) { rungs.append(rung) }
    }
}
