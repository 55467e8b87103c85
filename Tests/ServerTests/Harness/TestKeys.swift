import Attribution
import Foundation

/// Keys for services of tests.
enum TestKeys {
    /// Those of days from 1970 on: tests choose their time.
    static func addresses(from day: Int64 = 0, byte: UInt8 = 9) throws -> AddressKeys {
        guard
            let link = AddressKeys.Link(
                day: day,
                bytes: Array(repeating: byte, count: ServerKey.byteCount)
            ),
            let keys = AddressKeys([link], readyUntil: Timestamp(milliseconds: 0))
        else { throw CocoaError(.coderInvalidValue) }
        return keys
    }
}
