/// Additions to an app's learnt counters, gathered in memory until they are stored.
///
/// They are relative to an epoch's landmark. Those of several servers, and of one server's loops, add up in any order.
///
/// Counters by fingerprint and address are as many as launches differ, so that a flood of launches could fill memory
/// and database. Above a limit only every second of those keys is kept, then every fourth, and so on, each counting for
/// the ones left out: sums stay right on average, and only a flood makes them coarse.
public struct LearntIncrements: Equatable, Sendable {
    public let epoch: LearningEpoch
    public private(set) var sums: [CounterKey: Double] = [:]
    /// One key of so many is kept; a power of two.
    public private(set) var keptOneOf: UInt64 = 1

    private var keyedCount = 0
    private var markCount = 0
    private let keyLimit: Int
    /// Systems and signals that are counted at once: what is left out of a flood of invented ones is rare.
    private static let mostMarks = 512
    /// Other keys are kept at another time.
    private var turn: UInt64
    /// For how many events each that is added stands.
    private var timesEach = 1.0

    /// - Parameters:
    ///   - epoch: what the sums are relative to.
    ///   - keyLimit: how many counters by fingerprint and address there may be.
    ///   - turn: a number that differs from one gathering to the next.
    public init(epoch: LearningEpoch, keyLimit: Int = 8192, turn: UInt64 = 0) {
        self.epoch = epoch
        self.keyLimit = max(1, keyLimit)
        self.turn = turn
    }

    /// Counts `amount` events at `moment`; an amount that is no number counts nothing.
    public mutating func add(_ amount: Double = 1, to key: CounterKey, at moment: Timestamp) {
        guard amount.isFinite, amount != 0 else { return }
        let sum = amount * timesEach * epoch.weight(of: key.family, at: moment)
        guard !key.family.belongsToModel else {
            if key.family.isOpenEnded, sums[key] == nil {
                guard markCount < Self.mostMarks || key.isOfAll else { return }
                markCount += 1
            }
            sums[key, default: 0] += sum
            return
        }
        guard isKept(key) else { return }
        let before = sums[key]
        sums[key] = (before ?? 0) + sum * Double(keptOneOf)
        if before == nil { keyedCount += 1 }
        while keyedCount > keyLimit, keptOneOf < 1 << 40 { thin() }
    }

    /// Counts everything that `teach` adds so many times.
    public mutating func counting(times: Int, _ teach: (inout LearntIncrements) -> Void) {
        timesEach = Double(times)
        teach(&self)
        timesEach = 1
    }

    /// - Parameter other: increments of the same epoch.
    public mutating func merge(_ other: LearntIncrements) {
        for (key, sum) in other.sums {
            let before = sums[key]
            sums[key] = (before ?? 0) + sum
            guard before == nil, key.family.isOpenEnded else { continue }
            if key.family.belongsToModel { markCount += 1 } else { keyedCount += 1 }
        }
    }

    /// Begins anew, with other keys in the case of a flood.
    public mutating func removeAll() {
        sums.removeAll(keepingCapacity: true)
        keptOneOf = 1
        keyedCount = 0
        markCount = 0
        turn &+= 1
    }

    private mutating func thin() {
        keptOneOf *= 2
        for (key, sum) in sums where !key.family.belongsToModel {
            if isKept(key) {
                sums[key] = sum * 2
            } else {
                sums[key] = nil
                keyedCount -= 1
            }
        }
    }

    private func isKept(_ key: CounterKey) -> Bool {
        guard keptOneOf > 1 else { return true }
        // The finalizer of MurmurHash3: every bit of the key moves the lowest ones.
        var bits = key.key ^ turn &* 0x9e37_79b9_7f4a_7c15
        bits = (bits ^ bits >> 33) &* 0xff51_afd7_ed55_8ccd
        bits = (bits ^ bits >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return (bits ^ bits >> 33) & (keptOneOf - 1) == 0
    }
}
