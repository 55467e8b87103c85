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

    /// Nil when the calendar has no such day.
    public init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), (1...Self.length(ofMonth: month, in: year)).contains(day) else {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day that begins `days` days after 1970-01-01.
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

    /// Days from 1970-01-01 to this day; negative before.
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

    static func floorDivide(_ number: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension Timestamp {
    private static let millisecondsPerHour: Int64 = 3_600_000
    static let millisecondsPerDay: Int64 = 86_400_000

    /// The beginning of this moment's hour in UTC.
    public var startOfHour: Timestamp { roundedDown(to: Self.millisecondsPerHour) }

    /// The beginning of this moment's day in UTC.
    public var startOfDay: Timestamp { roundedDown(to: Self.millisecondsPerDay) }

    private func roundedDown(to step: Int64) -> Timestamp {
        let steps = CivilDate.floorDivide(milliseconds, by: step)
        let (start, overflows) = steps.multipliedReportingOverflow(by: step)
        return Timestamp(milliseconds: overflows ? .min : start)
    }
}
