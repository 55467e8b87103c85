public import Attribution

/// The older live clicks of a hash that very many clicks have, as counts: what they are worth changes slowly, so that
/// it is worked out every now and then and not for each check.
public struct KeySummary: Sendable {
    public struct Key: Hashable, Sendable {
        public let scope: Scope
        public let fingerprint: KeyedHash

        public init(scope: Scope, fingerprint: KeyedHash) {
            self.scope = scope
            self.fingerprint = fingerprint
        }
    }

    /// Clicks up to this one are in the counts.
    let end: RowPosition
    /// When it was made, by the time of the checks.
    let at: Timestamp
    let counts: [BackgroundCount]
    /// The same clicks by where they came from, those whose address is known: a check lists those from near its own,
    /// however many clicks of other hashes came from there.
    let places: ClickPositionsByNetwork

    private static let oldMilliseconds: UInt64 = 120_000
    /// After a quiet time the counted clicks are of other ages, and may be gone.
    private static let expiredMilliseconds: UInt64 = 240_000

    /// Whether ages and claims have moved on.
    func isOld(at now: Timestamp) -> Bool {
        now.milliseconds(since: at).magnitude > Self.oldMilliseconds
    }

    /// Whether they have moved on so far that the counts say nothing any more.
    public func isExpired(at now: Timestamp) -> Bool {
        now.milliseconds(since: at).magnitude > Self.expiredMilliseconds
    }

    /// Sums up the open clicks of one hash, which it is fed newest first: all that are live but the newest.
    public struct Builder {
        private struct Cell: Hashable {
            let destination: CreditedDestination
            let bin: Int
        }
        private struct Sum {
            var weight = 0.0
            var withAddress = 0.0
            let platformForm: PlatformForm
            /// Which of all sums it was begun as.
            let number: Int
        }

        private let now: Timestamp
        private var skippedCount = 0
        private var end: RowPosition?
        private var places = ClickPositionsByNetwork()
        private var cells: [Cell: Sum] = [:]
        private var byDestination: [CreditedDestination: Double] = [:]

        /// Destinations that are kept apart; those beyond the largest are counted together.
        private static let maximumDestinations = 64

        public init(at now: Timestamp) {
            self.now = now
        }

        public mutating func add(_ click: IndexRecord) {
            guard click.expiresAt >= now else { return }
            guard skippedCount >= CandidateEvidence.maximumListed else {
                skippedCount += 1
                return
            }
            if end == nil { end = click.position }
            if let address = click.address { places.append(click.position, near: address.near) }
            let age = Double(now.milliseconds(since: click.clickedAt)) / 1000
            let cell = Cell(destination: click.destination, bin: DelayBins.bin(forSeconds: age))
            byDestination[click.destination, default: 0] += click.weight
            var sum = cells[cell] ?? Sum(platformForm: click.platformForm, number: cells.count)
            sum.weight += click.weight
            if click.address != nil { sum.withAddress += click.weight }
            cells[cell] = sum
        }

        /// The summary; nil where so few clicks are live that all of them are listed.
        public mutating func finished() -> KeySummary? {
            guard let end else { return nil }
            places.sort()
            return KeySummary(end: end, at: now, counts: counts(), places: places)
        }

        private func counts() -> [BackgroundCount] {
            let largest = byDestination.sorted { ($0.value, $0.key.url) > ($1.value, $1.key.url) }
            let kept = Set(largest.prefix(Self.maximumDestinations).map(\.key))
            var others: [Int: Sum] = [:]
            var counts: [BackgroundCount] = []
            for (cell, sum) in cells.sorted(by: { $0.value.number < $1.value.number }) {
                guard !kept.contains(cell.destination) else {
                    counts.append(Self.count(cell.destination, cell.bin, sum))
                    continue
                }
                var together = others[cell.bin] ?? Sum(platformForm: sum.platformForm, number: 0)
                together.weight += sum.weight
                together.withAddress += sum.withAddress
                others[cell.bin] = together
            }
            for (bin, sum) in others { counts.append(Self.count(nil, bin, sum)) }
            return counts.sorted { Self.order($0) < Self.order($1) }
        }

        private static func count(_ destination: CreditedDestination?, _ bin: Int, _ sum: Sum)
            -> BackgroundCount
        {
            BackgroundCount(
                destination: destination,
                platformForm: sum.platformForm,
                ageBin: bin,
                weight: sum.weight,
                shareWithAddress: sum.weight > 0 ? sum.withAddress / sum.weight : 0
            )
        }

        private static func order(_ count: BackgroundCount) -> (Int, UInt64, UInt64) {
            (count.ageBin, count.destination?.url ?? .max, count.destination?.campaign ?? .max)
        }
    }
}

/// Where the clicks of one hash came from: their positions by the network around their addresses.
///
/// In a crowd, what a hash's clicks have in common with a launch's address cannot be found by that address alone: a
/// stadium's newest hundred clicks are those of the last minutes, and of other phones.
public struct ClickPositionsByNetwork: Sendable {
    private struct Place: Sendable {
        let near: UInt64
        let position: RowPosition
    }

    private var places: [Place] = []

    /// Clicks that are remembered, the newest: some hundred kilobytes a hash.
    private static let maximumCount = 16_384

    /// Adds a click older than all that were added before.
    mutating func append(_ position: RowPosition, near: UInt64) {
        if places.count < Self.maximumCount { places.append(Place(near: near, position: position)) }
    }

    /// Makes ``newest(near:atMost:)`` work.
    mutating func sort() {
        places.sort { ($0.near, $1.position) < ($1.near, $0.position) }
    }

    /// The newest clicks from the network, newest first.
    func newest(near: UInt64, atMost count: Int) -> [RowPosition] {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].near < near { low = middle + 1 } else { high = middle }
        }
        return places[low...].prefix(count).prefix { $0.near == near }.map(\.position)
    }
}

/// How many clicks came from an address with much traffic: counted every now and then and not for each check.
public struct AddressClickCount: Sendable {
    public struct Key: Hashable, Sendable {
        public let scope: Scope
        public let address: AddressHashes

        public init(scope: Scope, address: AddressHashes) {
            self.scope = scope
            self.address = address
        }
    }

    let exact: Double
    let near: Double
    /// When it was counted, by the time of the checks.
    private let at: Timestamp

    private static let oldMilliseconds: UInt64 = 60_000
    private static let day: Int64 = 86_400_000

    /// Whether so much may have come since that it is to be counted again.
    public func isOld(at now: Timestamp) -> Bool {
        now.milliseconds(since: at).magnitude > Self.oldMilliseconds
    }

    /// Counts the clicks around an address, which it is fed newest first.
    public struct Builder {
        private let now: Timestamp
        private var oldest: Timestamp
        private var exactCount = 0
        private var nearCount = 0

        /// Clicks to feed it.
        public static let maximumRead = Int(AddressTraffic.countLimit)

        public init(at now: Timestamp) {
            self.now = now
            oldest = now
        }

        public mutating func add(clickedAt: Timestamp, isExact: Bool) {
            oldest = clickedAt
            nearCount += 1
            if isExact { exactCount += 1 }
        }

        public func finished() -> AddressClickCount {
            let covered = min(max(now.milliseconds(since: oldest), 1000), AddressClickCount.day)
            // What was counted in the latest part of a day stands for the whole of it.
            let scale =
                nearCount < Self.maximumRead ? 1 : Double(AddressClickCount.day) / Double(covered)
            return AddressClickCount(
                exact: Double(exactCount) * scale,
                near: Double(nearCount) * scale,
                at: now
            )
        }
    }
}
