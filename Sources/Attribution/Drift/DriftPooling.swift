/// Puts groups together that have too few matches to say anything each for itself.
///
/// Each group of a side ends in exactly one of those that are watched: itself, the others of its OS version (for a
/// click: of its browser), the others of its platform, or all others.
struct DriftPooling {
    /// Watched groups with their days, the newest first.
    private(set) var groups: [DriftGroup: [DriftCount]] = [:]

    /// Groups with fewer matches a day on average are pooled.
    static let fewestMatches = 4.0
    /// Groups of one side that are watched each for itself, at most: the largest.
    static let largestNumber = 40
    /// Over how many days the size of a group is taken.
    private static let sizedDays = DriftTest.baselineDays + 7

    /// - Parameters:
    ///   - history: the counts of all groups.
    ///   - side: which of them are meant.
    ///   - kept: groups that stay themselves however small they have become, because an alarm is on.
    init(_ history: DriftHistory, side: DriftSide, keeping kept: Set<DriftGroup>) {
        var pending = history.days.filter { $0.key.side == side }
        for level in 0..<3 {
            let large = pending.filter { kept.contains($0.key) || Self.size($0.value) >= Self.fewestMatches }
            // By name where sizes are equal, so that the choice is always the same.
            let ordered = large.keys.sorted { left, right in
                let sizes = (Self.size(large[left] ?? []), Self.size(large[right] ?? []))
                return sizes.0 == sizes.1 ? left < right : sizes.0 > sizes.1
            }
            let room = max(0, Self.largestNumber - groups.count)
            for group in ordered.prefix(room) + ordered.dropFirst(room).filter(kept.contains) {
                groups[group] = pending.removeValue(forKey: group)
            }
            pending = Self.pooled(pending, level)
        }
        groups.merge(pending, uniquingKeysWith: Self.sum)
    }

    /// Matches a day since the group was first seen.
    private static func size(_ days: [DriftCount]) -> Double {
        let recent = days.prefix(sizedDays)
        guard let oldest = recent.lastIndex(where: { $0.trials > 0 }) else { return 0 }
        return Double(recent.sum.matches) / Double(oldest + 1)
    }

    private static func pooled(_ groups: [DriftGroup: [DriftCount]], _ level: Int) -> [DriftGroup:
        [DriftCount]]
    {
        Dictionary(groups.map { (parent(of: $0.key, level), $0.value) }, uniquingKeysWith: sum)
    }

    private static func parent(of group: DriftGroup, _ level: Int) -> DriftGroup {
        let isClick = group.side == .click
        return switch level {
        case 0:
            DriftGroup(
                group.side,
                platform: group.platform,
                osVersion: isClick ? .others : group.osVersion,
                client: isClick ? group.client : .others
            )
        case 1: DriftGroup(group.side, platform: group.platform, osVersion: .others, client: .others)
        default: DriftGroup(group.side, platform: .others, osVersion: .others, client: .others)
        }
    }

    private static func sum(_ left: [DriftCount], _ right: [DriftCount]) -> [DriftCount] {
        zip(left, right).map { $0 + $1 }
    }
}
