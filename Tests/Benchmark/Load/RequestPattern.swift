import Foundation

/// A request whose address and last sixteen digits of fingerprint differ from one to the next.
package struct RequestPattern {
    package private(set) var bytes: [UInt8]
    private let firstDigit: Int
    private let firstOfAddress: Int
    private static let digits = Array("0123456789abcdef".utf8)

    /// - Parameters:
    ///   - mark: the first eight digits.
    ///   - make: gives the request for a fingerprint from the address of the number 0.
    package init(mark: String, _ make: (String) -> String) {
        let fingerprint = mark + String(repeating: "0", count: 56)
        let text = make(fingerprint)
        bytes = Array(text.utf8)
        firstDigit = Self.start(of: fingerprint, in: text) + 48
        firstOfAddress = Self.start(of: String(decoding: SampleAddress.bytes(0), as: UTF8.self), in: text)
    }

    package mutating func set(_ number: UInt64) {
        for place in 0..<16 {
            bytes[firstDigit + place] = Self.digits[Int(number >> UInt64(60 - 4 * place) & 15)]
        }
        let address = SampleAddress.bytes(Int(number & 0xffff_ffff))
        for (place, byte) in address.enumerated() { bytes[firstOfAddress + place] = byte }
    }

    private static func start(of part: String, in text: String) -> Int {
        text.range(of: part).map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) } ?? 0
    }
}
