import Foundation

/// A request whose last sixteen digits of fingerprint differ from one to the next.
struct RequestPattern {
    private(set) var bytes: [UInt8]
    private let firstDigit: Int
    private static let digits = Array("0123456789abcdef".utf8)

    /// - Parameters:
    ///   - mark: the first eight digits.
    ///   - make: gives the request for a fingerprint.
    init(mark: String, _ make: (String) -> String) {
        let fingerprint = mark + String(repeating: "0", count: 56)
        let text = make(fingerprint)
        bytes = Array(text.utf8)
        let start = text.range(of: fingerprint).map {
            text.utf8.distance(from: text.startIndex, to: $0.lowerBound)
        }
        firstDigit = (start ?? 0) + 48
    }

    mutating func set(_ number: UInt64) {
        for place in 0..<16 {
            bytes[firstDigit + place] = Self.digits[Int(number >> UInt64(60 - 4 * place) & 15)]
        }
    }
}
