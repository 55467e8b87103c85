/// The size of a QR code: 1 for 21 modules a side to 40 for 177.
///
/// Source: ISO/IEC 18004, sections on versions and sizes and on alignment patterns.
public struct QRVersion: Hashable, Comparable, Sendable {
    /// 1…40.
    public let number: Int

    public static let largest = QRVersion(unchecked: 40)

    /// Nil outside 1…40.
    public init?(_ number: Int) {
        guard (1...Self.largest.number).contains(number) else { return nil }
        self.init(unchecked: number)
    }

    private init(unchecked number: Int) {
        self.number = number
    }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// All of them, the smallest first.
    public static let all = (1...40).map { QRVersion(unchecked: $0) }

    /// Rows, which are as many as columns, without the quiet zone.
    public var modulesPerSide: Int { 17 + 4 * number }

    /// Whether the code says its version: smaller ones are told by their size alone.
    var hasVersionInformation: Bool { number >= 7 }

    /// Rows, which are columns too, on which the centres of alignment patterns lie; none in version 1.
    ///
    /// The first is the timing pattern's, the last seven modules from the edge; between them they are as far from each
    /// other as even distances allow, and what is left over comes first.
    package var alignmentCentres: [Int] {
        guard number > 1 else { return [] }
        let intervals = number / 7 + 1
        let last = modulesPerSide - 7
        // The standard's table departs from its own rule once.
        let distance = number == 32 ? 26 : ((last - 6 + intervals - 1) / intervals + 1) / 2 * 2
        return [6] + (0..<intervals).reversed().map { last - $0 * distance }
    }

    /// Bytes of the whole code, data and error correction.
    package var codewordCount: Int {
        let side = modulesPerSide
        // Finder patterns with their separators, both copies of the format and the dark module, both timing lines.
        var functionModules = 3 * 64 + 31 + 2 * (side - 16)
        if number > 1 {
            let centres = number / 7 + 2
            // None where the finders are; those on a timing line share five modules with it.
            functionModules += 25 * (centres * centres - 3) - 2 * 5 * (centres - 2)
        }
        if hasVersionInformation { functionModules += 2 * 18 }
        return (side * side - functionModules) / 8
    }
}
