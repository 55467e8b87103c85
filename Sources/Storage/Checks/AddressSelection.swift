public import Attribution

/// The clicks from a launch's address or network that a check weighs.
///
/// It lists the clicks that have the launch's hash, and counts all clicks from the address and the network.
///
/// First, the newest ``maximumRead`` clicks around the address are added, newest first. Then ``wanted(_:)`` returns the
/// clicks to look up by the launch's hash, and these are added.
public struct AddressSelection: Sendable {
    /// A click to look up by its position.
    public struct Wanted: Sendable {
        public let position: RowPosition
        /// Whether the click is known to come from exactly the launch's address.
        public let isExact: Bool
    }

    public let address: AddressHashes
    /// The launch's hash.
    public let key: KeyedHash
    /// Clicks with the launch's hash, live or claimed.
    public private(set) var candidates: [Candidate] = []

    let now: Timestamp
    /// The app's window for matches by fingerprint; nil for the clicks' own windows.
    private let window: AttributionWindow?
    /// The clicks that are listed already, here or in the key's selection.
    private var listed: Set<Int64>
    private var found: [Wanted] = []
    private var exactCount = 0
    private var nearCount = 0
    private var claimedCount = 0

    /// The maximum number of clicks around the address that are read, whatever their hashes.
    public static let maximumRead = 256

    public init(around address: AddressHashes, _ selection: KeySelection, at now: Timestamp) {
        (self.address, self.now) = (address, now)
        (key, window) = (selection.key, selection.window)
        listed = Set(selection.open.map(\.click))
    }

    /// Adds the next older click around the address; `isOfKey` is false if the click certainly has another hash.
    public mutating func add(_ position: RowPosition, isExact: Bool, isOfKey: Bool) {
        guard covers(Timestamp(milliseconds: position.clickedAt)) else { return }
        nearCount += 1
        if isExact { exactCount += 1 }
        if isOfKey, listed.insert(position.click).inserted {
            found.append(Wanted(position: position, isExact: isExact))
        }
    }

    /// Returns the clicks to look up, up to a limit: added ones that may have the launch's hash, then older ones of the
    /// key's summary.
    mutating func wanted(_ places: ClickPositionsByNetwork?) -> [Wanted] {
        for position in places?.newest(near: address.near, atMost: CandidateEvidence.maximumListed) ?? []
        where listed.insert(position.click).inserted {
            // The summary has no exact addresses. So a click of the summary that was claimed meanwhile is not added.
            found.append(Wanted(position: position, isExact: false))
        }
        return Array(found.prefix(CandidateEvidence.maximumListed))
    }

    /// Adds a click that was looked up and is open.
    ///
    /// - Returns: whether its window has not ended.
    public mutating func add(_ click: IndexRecord) -> Bool {
        guard click.expiresAt >= now, covers(click.clickedAt) else { return false }
        candidates.append(click.candidate(AddressHashes.agreement(click.address, address)))
        return true
    }

    /// Adds a click that another launch has consumed, as evidence that its visitor has launched.
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

    private func covers(_ clickedAt: Timestamp) -> Bool {
        window?.covers(clickedAt: clickedAt, now: now) ?? true
    }

    /// Whether there may be more clicks around the address than were read.
    var needsCount: Bool { nearCount >= Self.maximumRead }

    /// Returns the number of clicks around the address, without the clicks that ``addClaimed(_:at:)`` added.
    ///
    /// `counted` is the count if there may be more clicks than were read.
    func traffic(_ counted: AddressClickCount?) -> (exact: Double, near: Double) {
        (
            max(Double(max(0, exactCount - claimedCount)), counted?.exact ?? 0),
            max(Double(max(0, nearCount - claimedCount)), counted?.near ?? 0)
        )
    }
}
