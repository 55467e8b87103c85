/// How many people share a fingerprint in an app's own traffic, under several windows at once.
///
/// Rows come fingerprint by fingerprint, as an index on it holds them; within one they may come in any order. Memory
/// holds the rows of one fingerprint, of which ``rowLimit`` are looked at: beyond that it is as crowded as can be.
public struct CollisionCount: Sendable {
    public let windows: [AttributionWindow]
    private var crowdings: [Lane: [Crowding]] = [:]
    private var group: [CollisionRow] = []

    /// The most rows of one fingerprint that are looked at; the others are left out.
    public static let rowLimit = 1_000_000

    public init(windows: [AttributionWindow]) {
        self.windows = windows
    }

    /// The report over all rows of a sequence.
    public static func of(
        _ rows: some Sequence<CollisionRow>,
        windows: [AttributionWindow]
    ) -> [Lane: [Crowding]] {
        var count = CollisionCount(windows: windows)
        for row in rows { count.add(row) }
        return count.finished()
    }

    /// Adds the next row: of the same fingerprint as the one before, or of one that has not come yet.
    public mutating func add(_ row: CollisionRow) {
        if let key = group.first?.key, key != row.key { countGroup() }
        if group.count < Self.rowLimit { group.append(row) }
    }

    /// For each lane, how crowded its fingerprints are under each of ``windows``, in their order.
    public consuming func finished() -> [Lane: [Crowding]] {
        countGroup()
        return crowdings
    }

    private mutating func countGroup() {
        group.sort { ($0.at, $0.visitor) < ($1.at, $1.visitor) }
        for index in windows.indices { countGroup(window: index) }
        group.removeAll(keepingCapacity: group.count < 10_000)
    }

    private mutating func countGroup(window index: Int) {
        var first = 0
        var clicksByVisitor: [UInt64: Int] = [:]
        for (place, row) in group.enumerated() {
            while !windows[index].covers(clickedAt: group[first].at, now: row.at) {
                let visitor = group[first].visitor
                clicksByVisitor[visitor] = clicksByVisitor[visitor].flatMap { $0 > 1 ? $0 - 1 : nil }
                first += 1
            }
            let own = clicksByVisitor[row.visitor] ?? 0
            clicksByVisitor[row.visitor] = own + 1
            crowdings[row.lane, default: [Crowding](repeating: Crowding(), count: windows.count)][index]
                .add(row.weight, competing: place - first - own)
        }
    }
}
