/// The ways to recognise a launch, strongest first.
///
/// A check tries them in one snapshot of the database. The first rung (certain way) that leads to a live
/// click, or to an answer that the check may get again, decides.
public struct MatchingLadder: Equatable, Sendable {
    /// One certain way to recognise a launch, verified as far as possible without reading clicks.
    public enum Rung: Hashable, Sendable {
        /// The click of a verified token.
        case signedToken(ClickID)
        /// The click that the launch named, without proof.
        case clickID(ClickID)
        /// The clicks to which an ad network added this advertising id.
        case advertisingID(AdvertisingID.Kind, KeyedHash)

        public var method: AttributionMethod {
            switch self {
            case .signedToken: .signedToken
            case .clickID: .clickID
            case .advertisingID(let kind, _): kind.method
            }
        }
    }

    /// The certain ways, each once, strongest first: tokens, click ids, advertising ids.
    public private(set) var rungs: [Rung] = []
    /// The last way: the clicks with one of these fingerprints are weighed against each other and against a
    /// launch without a click.
    public private(set) var fingerprints: [KeyedHash] = []
    /// The number of fingerprints under each server key; the current key's fingerprints come first, and every
    /// other key's follow in the same order.
    private var countUnderEachKey = 1
    /// The error of the first rejected token: the reason to report if the check ends without a match.
    public private(set) var refusal: ClickTokenError?
    /// Whether Google Play states that no campaign link led to the store.
    public private(set) var isOrganic = false

    /// - Parameters:
    ///   - evidence: what the launch sent.
    ///   - fingerprints: the client's own fingerprint, and the fingerprints of its signals; empty if the app uses none.
    ///   - app: the app whose launch it is.
    ///   - isTest: whether it is a test launch.
    ///   - apps: all apps of the server.
    ///   - keys: the current server key first, then the others under which clicks may be stored.
    ///   - now: the time of the launch.
    public init(
        _ evidence: LaunchEvidence,
        fingerprints: [Fingerprint],
        of app: AppID,
        isTest: Bool,
        among apps: some Sequence<AppID>,
        keys: [ServerKey],
        at now: Timestamp
    ) {
        isOrganic = evidence.isOrganic
        var named: [Rung] = []
        for reference in evidence.references {
            switch reference {
            case .click(let id): named.append(.clickID(id))
            case .token(let text):
                do throws(ClickTokenError) {
                    let token = try ClickToken(verifying: text, of: app, among: apps, signedBy: keys, at: now)
                    add(.signedToken(token.click))
                } catch { refusal = refusal ?? error }
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

    /// Creates the ladder of a launch with only a fingerprint, hashed under each key, the current one first.
    public init(fingerprintUnderEachKey hashes: [KeyedHash]) { fingerprints = hashes }

    /// Creates a ladder of verified rungs, with fingerprints under one server key.
    public init(_ rungs: [Rung], fingerprints: [KeyedHash], refusal: ClickTokenError? = nil) {
        self.rungs = rungs
        self.fingerprints = fingerprints
        self.refusal = refusal
        countUnderEachKey = max(1, fingerprints.count)
    }

    /// Whether fingerprints are searched under more than one server key.
    public var isUnderSeveralKeys: Bool { fingerprints.count > countUnderEachKey }

    /// The first fingerprint under each server key, the current one first.
    public var firstUnderEachKey: [KeyedHash] {
        stride(from: 0, to: fingerprints.count, by: countUnderEachKey).map { fingerprints[$0] }
    }

    /// The advertising ids among the certain ways.
    public var advertisingIDs: [KeyedHash] {
        rungs.compactMap { rung in
            if case .advertisingID(_, let key) = rung { key } else { nil }
        }
    }

    /// Whether the launch sent a reference to a click.
    public var namesClick: Bool {
        refusal != nil || rungs.contains { $0.method == .signedToken || $0.method == .clickID }
    }

    private mutating func add(_ rung: Rung) { if !rungs.contains(rung) { rungs.append(rung) } }
}
