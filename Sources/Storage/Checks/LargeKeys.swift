public import Attribution

/// Counts of the older live clicks of a large key: a hash with too many live clicks to list.
///
/// Their weights change slowly, so they are added up every two minutes and not for each check.
public struct KeySummary: Sendable {
    public struct Key: Hashable, Sendable {
        public let scope: Scope
        public let fingerprint: KeyedHash
        /// The app's window for matches by fingerprint, inside which clicks are counted; nil for their own windows.
        var window: AttributionWindow?

        public init(scope: Scope, fingerprint: KeyedHash, window: AttributionWindow? = nil) {
            (self.scope, self.fingerprint, self.window) = (scope, fingerprint, window)
        }
    }

    /// The newest counted click.
    let end: RowPosition
    /// The time of the check for which the summary was computed.
    let at: Timestamp
    let counts: [BackgroundCount]
    /// The positions of the counted clicks by network; leaves out clicks whose address is unknown.
    ///
    /// With these positions, a check lists the clicks from the launch's network, even if many clicks of other
    /// hashes came from there.
    let places: ClickPositionsByNetwork

    private static let oldMilliseconds: UInt64 = 120_000
    /// If a summary is older than this, it is not used, because its clicks' ages have changed and many may be claimed.
    private static let expiredMilliseconds: UInt64 = 240_000

    /// Whether a new summary is due.
    func isOld(at now: Timestamp) -> Bool { now.milliseconds(since: at).magnitude > Self.oldMilliseconds }

    /// Whether the counts are too old to be used.
    public func isExpired(at now: Timestamp) -> Bool {
        now.milliseconds(since: at).magnitude > Self.expiredMilliseconds
    }

    /// Sums up the live clicks of one hash, which are added newest first; the newest ones are skipped.
    public struct Builder {
        private struct Cell: Hashable {
            let destination: CreditedDestination
            let bin: Int
        }
        private struct Sum {
            var weight = 0.0
            var withAddress = 0.0
            let platformForm: PlatformForm
            /// The number of sums that existed before this one; the first sum has the newest clicks.
            let number: Int
        }

        private let now: Timestamp
        private let window: AttributionWindow?
        private var skippedCount = 0
        private var end: RowPosition?
        private var places = ClickPositionsByNetwork()
        private var cells: [Cell: Sum] = [:]
        private var byDestination: [CreditedDestination: Double] = [:]

        /// The number of destinations with separate counts; all smaller destinations share one.
        private static let maximumDestinations = 64

        public init(at now: Timestamp, within window: AttributionWindow? = nil) {
            (self.now, self.window) = (now, window)
        }

        public mutating func add(_ click: IndexRecord) {
            guard click.expiresAt >= now, window?.covers(clickedAt: click.clickedAt, now: now) ?? true else {
                return
            }
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

        /// Returns the summary; nil if so few clicks are live that checks list all of them.
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

/// The positions of one hash's clicks by the network around their addresses.
///
/// If many phones share a network, the newest clicks of the network come from other phones; this index finds
/// older clicks of the launch's hash.
public struct ClickPositionsByNetwork: Sendable {
    private struct Place: Sendable {
        let near: UInt64
        let position: RowPosition
    }

    private var places: [Place] = []

    /// The maximum number of listed clicks, which are the newest ones; they take several hundred kilobytes.
    private static let maximumCount = 16_384

    /// Adds the next older click.
    mutating func append(_ position: RowPosition, near: UInt64) {
        if places.count < Self.maximumCount { places.append(Place(near: near, position: position)) }
    }

    /// Sorts the clicks, after the last one was added and before ``newest(near:atMost:)``.
    mutating func sort() { places.sort { ($0.near, $1.position) < ($1.near, $0.position) } }

    /// Returns the newest clicks from the network, newest first.
    func newest(near: UInt64, atMost count: Int) -> [RowPosition] {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].near < near { low = middle + 1 } else { high = middle }
        }
        return places[low...].prefix(count).prefix { $0.near == near }.map(\.position)
    }
}

/// The number of clicks around an address with much traffic, counted once a minute and not for each check.
public struct AddressClickCount: Sendable {
    struct Key: Hashable, Sendable {
        let scope: Scope
        let address: AddressHashes
        /// The app's window for matches by fingerprint, inside which clicks are counted; nil for their own windows.
        var window: AttributionWindow?
    }

    let exact: Double
    let near: Double
    /// The time of the check for which the clicks were counted.
    private let at: Timestamp

    private static let oldMilliseconds: UInt64 = 60_000
    private static let day: Int64 = 86_400_000

    /// Whether the clicks must be counted again.
    public func isOld(at now: Timestamp) -> Bool {
        now.milliseconds(since: at).magnitude > Self.oldMilliseconds
    }

    /// Counts the clicks around an address, which are added newest first.
    public struct Builder {
        public let address: AddressHashes
        let now: Timestamp
        /// The time from which clicks are counted.
        let first: Timestamp
        private var oldest: Timestamp
        private var exactCount = 0
        private var nearCount = 0

        /// The maximum number of clicks that are added.
        public static let maximumRead = Int(AddressTraffic.countLimit)

        init(around address: AddressHashes, at now: Timestamp, within window: AttributionWindow? = nil) {
            (self.address, self.now) = (address, now)
            let length = window.map { $0.seconds * 1000 }
            first = length.map { now.advanced(byMilliseconds: -$0) } ?? Timestamp(milliseconds: .min)
            oldest = now
        }

        /// Adds the next older click around the address; `exact` is the hash of the click's address.
        public mutating func add(clickedAt: Timestamp, exact: UInt64?) {
            guard clickedAt >= first else { return }
            oldest = clickedAt
            nearCount += 1
            if exact == address.exact { exactCount += 1 }
        }

        /// Adds clicks that the database has counted, the newest ones up to ``maximumRead``.
        ///
        /// - Parameters:
        ///   - near: the number of clicks around the address.
        ///   - exact: how many of them are from the address itself.
        ///   - oldest: the time of the oldest of them.
        mutating func add(near: Int, exact: Int, oldest: Timestamp) {
            self.oldest = oldest
            nearCount += near
            exactCount += exact
        }

        func finished() -> AddressClickCount {
            let covered = min(max(now.milliseconds(since: oldest), 1000), AddressClickCount.day)
            // A count of the latest part of a day is extrapolated to the whole day.
            let scale = nearCount < Self.maximumRead ? 1 : Double(AddressClickCount.day) / Double(covered)
            let (exact, near) = (Double(exactCount) * scale, Double(nearCount) * scale)
            return AddressClickCount(exact: exact, near: near, at: now)
        }
    }
}
