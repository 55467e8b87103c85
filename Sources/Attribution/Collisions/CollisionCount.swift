/// How many people share a fingerprint in an app's own traffic, under several windows at once.
///
/// Rows come fingerprint by fingerprint, as an index on it holds them; within one they may come in any order. Memory
/// holds the rows of one fingerprint, and of a very common one a sample.
public struct CollisionCount: Sendable {
    public let windows: [AttributionWindow]
    private var crowdings: [PlatformForm: [FingerprintSharing]] = [:]
    private var key: UInt64?
    private var group: [CollisionRow] = []
    /// Of the present fingerprint's rows, one in 2 to the power of this is looked at.
    private var thinning: UInt64 = 0

    /// The most rows of one fingerprint that are held.
    ///
    /// Of more, every second one is left out, by chance and as often as is needed, and those that are left count for
    /// the others. So many rows within a retention time are dozens in the shortest window: hardly one of them is alone
    /// for want of the rows that were left out.
    public static let rowLimit = 65_536

    public init(windows: [AttributionWindow]) {
        self.windows = windows
    }

    /// The report over all rows of a sequence.
    public static func of(
        _ rows: some Sequence<CollisionRow>,
        windows: [AttributionWindow]
    ) -> [PlatformForm: [FingerprintSharing]] {
        var count = CollisionCount(windows: windows)
        for row in rows { count.add(row) }
        return count.finished()
    }

    /// Adds the next row: of the same fingerprint as the one before, or of one that has not come yet.
    public mutating func add(_ row: CollisionRow) {
        if key != row.key { countGroup() }
        key = row.key
        guard Self.isHeld(row, thinning) else { return }
        group.append(row)
        while group.count > Self.rowLimit {
            thinning += 1
            group.removeAll { [thinning] in !Self.isHeld($0, thinning) }
        }
    }

    /// For each platformForm, how crowded its fingerprints are under each of ``windows``, in their order.
    public consuming func finished() -> [PlatformForm: [FingerprintSharing]] {
        countGroup()
        return crowdings
    }

    /// By chance, but the same for a row each time.
    private static func isHeld(_ row: CollisionRow, _ thinning: UInt64) -> Bool {
        guard thinning > 0 else { return true }
        var mixed = (row.visitor ^ UInt64(bitPattern: row.at.milliseconds)) &* 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ mixed >> 32) &* 0xd6e8_feb8_6659_fd93
        return mixed >> (64 - min(thinning, 63)) == 0
    }

    private mutating func countGroup() {
        group.sort { ($0.at, $0.visitor) < ($1.at, $1.visitor) }
        for index in windows.indices { countGroup(window: index) }
        group.removeAll(keepingCapacity: group.count < 10_000)
        thinning = 0
    }

    private mutating func countGroup(window index: Int) {
        var first = 0
        var clicksByVisitor: [UInt64: Int] = [:]
        let scale = Double(UInt64(1) << min(thinning, 63))
        for (place, row) in group.enumerated() {
            while !windows[index].covers(clickedAt: group[first].at, now: row.at) {
                let visitor = group[first].visitor
                clicksByVisitor[visitor] = clicksByVisitor[visitor].flatMap { $0 > 1 ? $0 - 1 : nil }
                first += 1
            }
            let own = clicksByVisitor[row.visitor] ?? 0
            clicksByVisitor[row.visitor] = own + 1
            guard let platformForm = row.platformForm else { continue }
            crowdings[
                platformForm,
                default: [FingerprintSharing](repeating: FingerprintSharing(), count: windows.count)
            ][index]
            .add(row.weight * scale, competing: Double(place - first - own) * scale)
        }
    }
}
