/// Cuts a text into segments so that together they take the fewest bits.
///
/// From the first byte to the last it is known, for each mode, what the text so far takes at the least if it ends in
/// that mode. Costs are counted in sixths of a bit, in which digits (10/3) and pairs (11/2) are whole, and rounded up
/// where a segment ends, as its last group is.
package enum QRSegmentation {
    private static let impossible = Int.max / 2

    package static func segments(of bytes: [UInt8], in sizes: QRVersionSizes) -> [QRSegment] {
        let modes = QRMode.allCases
        let announcements = modes.map { 6 * (4 + $0.countBits(in: sizes)) }
        var costs = announcements
        /// For each byte and mode, the mode of the byte before it.
        var previousModes: [UInt8] = []
        previousModes.reserveCapacity(bytes.count * modes.count)
        for (index, byte) in bytes.enumerated() {
            var next = [impossible, impossible, impossible]
            for mode in 0..<modes.count {
                guard let cost = modes[mode].sixthsOfBits(for: byte) else {
                    previousModes.append(UInt8(mode))
                    continue
                }
                var best = costs[mode]
                var previous = mode
                for other in 0..<modes.count where index > 0 && other != mode {
                    let switched = (costs[other] + 5) / 6 * 6 + announcements[mode]
                    if switched < best {
                        best = switched
                        previous = other
                    }
                }
                previousModes.append(UInt8(previous))
                next[mode] = min(best + cost, impossible)
            }
            costs = next
        }
        return segments(of: bytes, endingIn: cheapest(costs), previousModes: previousModes)
    }

    private static func cheapest(_ costs: [Int]) -> Int {
        let rounded = costs.map { ($0 + 5) / 6 }
        return rounded.indices.min { rounded[$0] < rounded[$1] } ?? QRMode.byte.rawValue
    }

    /// Goes back from the last byte's mode.
    private static func segments(
        of bytes: [UInt8],
        endingIn last: Int,
        previousModes: [UInt8]
    ) -> [QRSegment] {
        var segments: [QRSegment] = []
        var mode = last
        var end = bytes.count
        for index in bytes.indices.reversed() {
            let previous = Int(previousModes[index * QRMode.allCases.count + mode])
            guard previous != mode || index == 0 else { continue }
            segments.append(QRSegment(mode: QRMode.allCases[mode], bytes: bytes[index..<end]))
            end = index
            mode = previous
        }
        return segments.reversed()
    }
}
