public import Attribution

/// What a check takes from the clicks that came from near its launch's address: those among them that the launch can have
/// come from, and how many others there are.
///
/// It is fed the newest ``maximumRead`` clicks around the address, newest first; then it says which of them to look up by
/// the launch's hash, and is fed those.
public struct AddressSelection: Sendable {
    /// A click to look up by its position.
    public struct Wanted: Sendable {
        public let position: RowPosition
        /// Whether its exact address is known to be the launch's.
        public let isExact: Bool
    }

    public let address: AddressHashes
    /// The hash of the launch by which the clicks are looked up.
    public let key: KeyedHash
    /// Clicks by which the launch's hash is found, live or claimed.
    public private(set) var candidates: [Candidate] = []

    private let now: Timestamp
    /// None of the clicks of the key's selection is listed twice.
    private var listed: Set<Int64>
    private var found: [Wanted] = []
    private var exactCount = 0
    private var nearCount = 0
    private var claimedCount = 0

    /// Clicks of any hash that are read.
    public static let maximumRead = 256

    public init(around address: AddressHashes, _ selection: KeySelection, at now: Timestamp) {
        self.address = address
        self.now = now
        key = selection.key
        listed = Set(selection.open.map(\.click))
    }

    /// Adds the next older click around the address, of which is known whether the key can find it.
    public mutating func add(_ position: RowPosition, isExact: Bool, isOfKey: Bool) {
        nearCount += 1
        if isExact { exactCount += 1 }
        if isOfKey, listed.insert(position.click).inserted {
            found.append(Wanted(position: position, isExact: isExact))
        }
    }

    /// The clicks to look up: those that were added, then older ones of the key that its summary has counted.
    mutating func wanted(_ places: ClickPositionsByNetwork?) -> [Wanted] {
        for position in places?.newest(near: address.near, atMost: CandidateEvidence.maximumListed) ?? []
        where listed.insert(position.click).inserted {
            // Whether one that was claimed meanwhile agrees exactly is not known: it says nothing.
            found.append(Wanted(position: position, isExact: false))
        }
        return Array(found.prefix(CandidateEvidence.maximumListed))
    }

    /// Adds a click that was looked up and is open.
    ///
    /// - Returns: whether its window has not ended.
    public mutating func add(_ click: IndexRecord) -> Bool {
        guard click.expiresAt >= now else { return false }
        candidates.append(click.candidate(AddressHashes.agreement(click.address, address)))
        return true
    }

    /// Adds a click that another launch has consumed: it says of its visitor that they have launched, and nothing else.
    public mutating func addClaimed(_ position: RowPosition, at claimedAt: Timestamp) {
        claimedCount += 1
        var candidate = Candidate(
            click: ClickID(high: UInt64(bitPattern: position.click), low: 0),
            clickedAt: Timestamp(milliseconds: position.clickedAt),
            destination: CreditedDestination(url: 0, campaign: 0),
            platform: .unknown,
            form: nil,
            visitor: 0
        )
        candidate.address = .exact
        candidate.hasAddress = true
        candidate.claimedAt = claimedAt
        candidates.append(candidate)
    }

    /// Whether there may be more clicks than were read.
    var needsCount: Bool { nearCount >= Self.maximumRead }

    /// How many other clicks came from there, given what was counted where there are more than were read.
    func traffic(_ counted: AddressClickCount?) -> (exact: Double, near: Double) {
        (
            max(Double(max(0, exactCount - claimedCount)), counted?.exact ?? 0),
            max(Double(max(0, nearCount - claimedCount)), counted?.near ?? 0)
        )
    }
}
