import Attribution
import Foundation

/// Keys for services of tests.
enum TestKeys {
    /// The address keys of the days around the tests' time, made once, because each day's key is derived from the
    /// previous one.
    static func addresses() throws -> AddressKeys { try made.get() }

    private static let made = Result {
        let start = TestClock.start
        let last = start.advanced(byMilliseconds: 60 * AddressKeys.period)
        guard
            let link = AddressKeys.Seed(
                day: AddressKeys.day(of: start) - 60,
                bytes: Array(repeating: 9, count: ServerKey.byteCount)
            ),
            let keys = AddressKeys([link], readyUntil: last)
        else { throw CocoaError(.coderInvalidValue) }
        return keys
    }
}
