/// The checksum of compressed data as it was before.
///
/// Source: RFC 1950.
package struct Adler32 {
    private static let modulus = 65_521
    private var sum = 1
    private var sumOfSums = 0

    package init() {}

    package var value: UInt32 { UInt32(sumOfSums) << 16 | UInt32(sum) }

    /// Appends so many equal rows, which must each be shorter than 16 MiB; each but the first takes two additions.
    package mutating func append(_ row: [UInt8], count: Int) {
        /// What a row adds to either sum if both are zero before it.
        var rowSum = 0
        var rowSumOfSums = 0
        for byte in row {
            rowSum += Int(byte)
            rowSumOfSums += rowSum
        }
        for _ in 0..<count {
            sumOfSums = (sumOfSums + row.count * sum + rowSumOfSums) % Self.modulus
            sum = (sum + rowSum) % Self.modulus
        }
    }
}
