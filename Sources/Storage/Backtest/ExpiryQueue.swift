internal import Attribution

/// Clicks ordered by the end of their windows: a binary heap, because windows differ in length.
struct ExpiryQueue: Sendable {
    private var entries: [(end: Timestamp, click: Int)] = []

    var count: Int { entries.count }

    mutating func insert(_ click: Int, endingAt end: Timestamp) {
        entries.append((end, click))
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].end < entries[parent].end else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    /// Removes and returns the click whose window ended first, before `now`; nil if there is none.
    mutating func popEnded(before now: Timestamp) -> Int? {
        guard let first = entries.first, first.end < now else { return nil }
        entries[0] = entries[entries.count - 1]
        entries.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < entries.count && entries[child].end < entries[least].end { least = child }
            guard least != index else { return first.click }
            entries.swapAt(index, least)
            index = least
        }
    }
}
