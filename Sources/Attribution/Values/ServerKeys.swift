/// The server keys of a service: the one that everything new is hashed under, and those that what is stored may have
/// been hashed under.
public struct ServerKeys: Sendable {
    /// Under which clicks are stored and tokens are made.
    public let present: ServerKey
    /// Under which clicks and tokens may be found besides, those that will be the present one before those that were.
    public let others: [ServerKey]
    /// The one that has been known for longest: what is hashed under it is the same before and after another one takes
    /// the present one's place.
    public let oldest: ServerKey

    /// - Parameters:
    ///   - present: under which everything new is hashed.
    ///   - upcoming: those that take its place soon, which other processes may be using already.
    ///   - former: those whose place it took, the newest first.
    public init(_ present: ServerKey, upcoming: [ServerKey] = [], former: [ServerKey] = []) {
        self.present = present
        others = upcoming + former
        oldest = former.last ?? present
    }

    /// The present one first.
    public var all: [ServerKey] { [present] + others }
}

/// What a store says of the server keys that it is opened with.
public enum ServerKeyRecognition: Equatable, Sendable {
    /// They are its own, except for so many under which clicks may still be stored.
    case own(missing: Int)
    /// What it holds was stored under another one.
    case foreign
}

/// Which keys a store has no use for any more.
public struct RequiredKeys: Equatable, Sendable {
    /// The oldest record that anything could be found by; nil for an empty store.
    public var oldestRecord: Timestamp?
    /// When server keys ceased to be the present one, by ``ServerKey/check``'s first word.
    public var replaced: [UInt64: Timestamp]
    /// The first day, by ``AddressKeys/day(of:)``, from which a click can still be matched; nil where there is none.
    public var firstAddressDay: Int64?

    public init(
        oldestRecord: Timestamp? = nil,
        replaced: [UInt64: Timestamp] = [:],
        firstAddressDay: Int64? = nil
    ) {
        self.oldestRecord = oldestRecord
        self.replaced = replaced
        self.firstAddressDay = firstAddressDay
    }

    /// How long after it was replaced a key may still be used by a process that has not noticed, in milliseconds.
    static let margin: Int64 = 3_600_000

    /// Whether something that was stored under a key, which another one replaced at a moment, may be there.
    public func needsKey(replacedAt moment: Timestamp, at now: Timestamp) -> Bool {
        let end = moment.advanced(byMilliseconds: Self.margin)
        return now <= end || (oldestRecord.map { $0 <= end } ?? false)
    }
}
