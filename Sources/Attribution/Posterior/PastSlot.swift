/// A slot of time of a counter, seen from a moment in it or behind it.
struct PastSlot {
    /// How many slots before the moment's own.
    let back: UInt64
    /// How much of it was observed; none of the moment's own where that has just begun.
    let seconds: Double
    /// What something in its middle is worth at the moment.
    let worth: Double

    /// Those that were observed.
    ///
    /// - Parameters:
    ///   - most: how many at most.
    ///   - length: of each, in milliseconds; a slot's number is the moment divided by it.
    ///   - halfLife: the seconds after which something is worth half.
    ///   - counters: whose moment it is, and whose beginning.
    /// - Returns: the moment's own first.
    static func all(
        _ most: UInt64,
        of length: Int64,
        halfLife: Double,
        _ counters: ModelCounters
    ) -> [PastSlot] {
        let moment = max(0, counters.at.milliseconds)
        let begun = Double(moment % length) / 1000
        let sinceBegin = max(0, Double(counters.at.milliseconds(since: counters.epoch.began)) / 1000)
        guard sinceBegin > 0 else { return [] }
        var slots: [PastSlot] = []
        for back in 0..<min(most, UInt64(moment / length)) {
            let end = back == 0 ? 0 : begun + Double(back - 1) * Double(length) / 1000
            let start = min(begun + Double(back) * Double(length) / 1000, sinceBegin)
            guard start >= end else { break }
            let worth = LearningEpoch.fading((start + end) / 2, halfLife: halfLife)
            slots.append(PastSlot(back: back, seconds: start - end, worth: worth))
        }
        return slots
    }
}
