/// The text form of a moment: ISO 8601 as RFC 3339 narrows it down.
extension Timestamp {
    /// 0001-01-01T00:00:00.000Z, where ``iso8601`` begins.
    public static let earliestWritten = Timestamp(milliseconds: -62_135_596_800_000)
    /// 9999-12-31T23:59:59.999Z, where ``iso8601`` ends.
    public static let latestWritten = Timestamp(milliseconds: 253_402_300_799_999)

    /// This moment as `2026-07-22T10:30:00.000Z`, always with three digits and `Z`.
    ///
    /// Clients compare such texts and do not parse them. Moments outside the years 1 to 9999 are written as
    /// the nearest end.
    public var iso8601: String {
        let moment = min(max(self, .earliestWritten), .latestWritten)
        let days = CivilDate.floorDivide(moment.milliseconds, by: Self.millisecondsPerDay)
        let date = CivilDate(daysSinceEpoch: days)
        let ofDay = moment.milliseconds - days * Self.millisecondsPerDay
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

    /// Reads RFC 3339 (`2026-07-22T10:30:00Z`, `…00.25+03:00`); nil for anything else.
    ///
    /// A fraction may have any number of digits and is cut to milliseconds. Years 1 to 9999. A leap second
    /// (`:60`) is refused: Unix time has no place for it.
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

/// A position in a text that is hoped to be a date.
private struct ISO8601Reader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

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

    /// Milliseconds of an optional fraction: 0 when there is none, nil when a dot has no digit behind it.
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

    /// Minutes east of UTC.
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
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
            return nil
        }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }
}
