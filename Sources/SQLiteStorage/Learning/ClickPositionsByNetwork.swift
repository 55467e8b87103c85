/// Where the clicks of one key came from: their positions by the network around their addresses.
///
/// In a crowd, what a key's clicks have in common with a launch's address cannot be found by that address alone: a
/// stadium's newest hundred clicks are those of the last minutes, and of other phones.
struct ClickPositionsByNetwork: Sendable {
    private struct Place: Sendable {
        let near: UInt64
        let position: RowPosition
    }

    private var places: [Place] = []

    /// Clicks that are remembered, the newest: some hundred kilobytes a key.
    private static let most = 16_384

    /// Adds a click older than all that were added before.
    mutating func append(_ position: RowPosition, near: UInt64) {
        if places.count < Self.most { places.append(Place(near: near, position: position)) }
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
