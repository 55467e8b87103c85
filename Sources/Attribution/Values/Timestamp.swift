/// A wall-clock time: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Returns this time moved by `milliseconds`, clamped to the representable range.
    public func advanced(byMilliseconds milliseconds: Int64) -> Timestamp {
        let (sum, overflows) = self.milliseconds.addingReportingOverflow(milliseconds)
        guard overflows else { return Timestamp(milliseconds: sum) }
        return Timestamp(milliseconds: milliseconds < 0 ? .min : .max)
    }

    /// Returns the milliseconds from `other` to this time; negative if `other` is later.
    public func milliseconds(since other: Timestamp) -> Int64 {
        let (difference, overflows) = milliseconds.subtractingReportingOverflow(other.milliseconds)
        guard overflows else { return difference }
        return milliseconds < other.milliseconds ? .min : .max
    }

    /// The largest time by which another machine's clock may be ahead, in milliseconds.
    private static let allowedAdvance: Int64 = 300_000

    /// Returns whether this time, read from another machine's clock, is later than `now` by more than the allowed
    /// difference of clocks.
    public func isAhead(of now: Timestamp) -> Bool { milliseconds(since: now) > Self.allowedAdvance }
}

/// The source of the current time, a parameter so that tests can set it.
public struct WallClock: Sendable {
    public let now: @Sendable () -> Timestamp

    public init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    public static func fixed(_ time: Timestamp) -> WallClock { WallClock { time } }
}

/// The text form of a time: ISO 8601 in the subset of RFC 3339.
extension Timestamp {
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// 0001-01-01T00:00:00.000Z, the first time that ``iso8601`` can write.
    public static let earliestWritten = Timestamp(milliseconds: -62_135_596_800_000)
    /// 9999-12-31T23:59:59.999Z, the last time that ``iso8601`` can write.
    public static let latestWritten = Timestamp(milliseconds: 253_402_300_799_999)

    /// This time as `2026-07-22T10:30:00.000Z`, always with three digits after the dot and `Z`.
    ///
    /// All texts have this form because clients compare them without parsing. A time outside the years 1 to
    /// 9999 is clamped.
    public var iso8601: String {
        let time = min(max(self, .earliestWritten), .latestWritten)
        let days = CivilDate.floorDivide(time.milliseconds, by: Self.millisecondsPerDay)
        let date = CivilDate(daysSinceEpoch: days)
        let ofDay = time.milliseconds - days * Self.millisecondsPerDay
        var digits: [UInt8] = []
        digits.reserveCapacity(24)
        func write(_ value: Int64, width: Int, then separator: Unicode.Scalar) {
            var divisor: Int64 = 1
            for _ in 1..<width { divisor *= 10 }
            while divisor > 0 {
                digits.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
                divisor /= 10
            }
            digits.append(UInt8(ascii: separator))
        }
        write(date.year, width: 4, then: "-")
        write(date.month, width: 2, then: "-")
        write(date.day, width: 2, then: "T")
        write(ofDay / 3_600_000, width: 2, then: ":")
        write(ofDay / 60_000 % 60, width: 2, then: ":")
        write(ofDay / 1000 % 60, width: 2, then: ".")
        write(ofDay % 1000, width: 3, then: "Z")
        return String(decoding: digits, as: UTF8.self)
    }

    /// Reads RFC 3339 (`2026-07-22T10:30:00Z`, `…00.25+03:00`); nil for any other text.
    ///
    /// A fraction may have any number of digits and is cut to milliseconds. Years are 1 to 9999. A leap
    /// second (`:60`) is rejected, because Unix time cannot represent it.
    public init?(iso8601 text: String) {
        var reader = ISO8601Reader(text)
        guard let year = reader.digits(4), year >= 1, reader.skip("-"),
            let month = reader.digits(2), reader.skip("-"),
            let day = reader.digits(2), reader.skip("T") || reader.skip("t"),
            let date = CivilDate(year: year, month: month, day: day),
            let hour = reader.digits(2), hour <= 23, reader.skip(":"),
            let minute = reader.digits(2), minute <= 59, reader.skip(":"),
            let second = reader.digits(2), second <= 59,
            let fraction = reader.fraction(),
            let offset = reader.offsetMinutes(),
            reader.isAtEnd
        else { return nil }
        let minutes = date.daysSinceEpoch * 1440 + hour * 60 + minute - offset
        self.init(milliseconds: minutes * 60_000 + second * 1000 + fraction)
    }
}

/// Reads the parts of an ISO 8601 text one after the other.
private struct ISO8601Reader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func digits(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads the milliseconds of an optional fraction: 0 if there is none, nil if no digit follows a dot.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        guard let tenths = digit() else { return nil }
        var milliseconds = tenths * 100
        var unit: Int64 = 10
        while let digit = digit() {
            milliseconds += digit * unit
            unit /= 10
        }
        return milliseconds
    }

    /// Reads the minutes east of UTC.
    mutating func offsetMinutes() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+"), let hours = digits(2), hours <= 23, skip(":"),
            let minutes = digits(2), minutes <= 59
        else { return nil }
        let total = hours * 60 + minutes
        return isWest ? -total : total
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, byte.isASCIIDigit else { return nil }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }
}

/// A day of the proleptic Gregorian calendar in UTC.
///
/// Source of the arithmetic: Howard Hinnant, "chrono-compatible low-level date algorithms" (days_from_civil
/// and civil_from_days), which counts years from March so that the leap day comes last.
public struct CivilDate: Hashable, Sendable {
    public let year: Int64
    /// 1 to 12.
    public let month: Int64
    /// 1 to 31.
    public let day: Int64

    private static let daysPerEra: Int64 = 146_097
    /// Days from 0000-03-01 to 1970-01-01.
    private static let epochOffset: Int64 = 719_468

    /// Returns nil if the calendar has no such day.
    public init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), (1...Self.length(ofMonth: month, in: year)).contains(day)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the day that starts `days` days after 1970-01-01.
    public init(daysSinceEpoch days: Int64) {
        let shifted = days + Self.epochOffset
        let era = Self.floorDivide(shifted, by: Self.daysPerEra)
        let dayOfEra = shifted - era * Self.daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days from 1970-01-01 to this day; negative before.
    public var daysSinceEpoch: Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = Self.floorDivide(yearFromMarch, by: 400)
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysPerEra + dayOfEra - Self.epochOffset
    }

    private static func length(ofMonth month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2:
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            return isLeap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    package static func floorDivide(_ number: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// Formats a span of time for display.
public enum ElapsedTime {
    /// Returns a text such as `45 s`, `17 min`, `5 h` or `3 d`, rounded down; at least 0 s.
    public static func text(milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1000
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7200 { return "\(seconds / 60) min" }
        return seconds < 172_800 ? "\(seconds / 3600) h" : "\(seconds / 86_400) d"
    }
}
