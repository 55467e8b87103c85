/// Where the clicks of one key came from: their positions by the network around their addresses.
///
/// In a crowd, what a key's clicks have in common with a launch's address cannot be found by that address alone: a
/// stadium's newest hundred clicks are those of the last minutes, and of other phones.
public struct ClickPositionsByNetwork: Sendable {
    private struct Place: Sendable {
        let near: UInt64
        let position: RowPosition
    }

    public init() {}

    private var places: [Place] = []

    /// How many of the newest clicks are remembered: some hundred kilobytes a key.
    private static let maximumClicks = 16_384

    /// Adds a click older than all that were added before.
    public mutating func append(_ position: RowPosition, near: UInt64) {
        if places.count < Self.maximumClicks { places.append(Place(near: near, position: position)) }
    }

    /// Makes ``newest(near:atMost:)`` work.
    public mutating func sort() {
        places.sort { ($0.near, $1.position) < ($1.near, $0.position) }
    }

    /// The newest clicks from the network, newest first.
    public func newest(near: UInt64, atMost count: Int) -> [RowPosition] {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].near < near { low = middle + 1 } else { high = middle }
        }
        return places[low...].prefix(count).prefix { $0.near == near }.map(\.position)
    }
}

/// Where a click stands in the order of its key's clicks.
public struct RowPosition: Comparable, Sendable {
    /// In milliseconds since 1970.
    public let clickedAt: Int64
    public let click: Int64

    public init(clickedAt: Int64, click: Int64) {
        self.clickedAt = clickedAt
        self.click = click
    }

    public static func < (left: RowPosition, right: RowPosition) -> Bool {
        (left.clickedAt, left.click) < (right.clickedAt, right.click)
    }
}
