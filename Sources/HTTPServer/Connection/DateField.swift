internal import Glibc

/// The `Date` field line (RFC 9110 §6.6.1), made once a second.
package struct DateField {
    private var second: Int64 = .min
    private var line: [UInt8] = []
    /// Field lines of every answer that stand behind it, with their line ends.
    private let constantLines: String

    init(followedBy constantLines: String = "") {
        self.constantLines = constantLines
    }

    /// The line for now, with its line end, and what follows it.
    mutating func current() -> [UInt8] {
        var reading = timespec()
        // The kernel fills the local value and keeps no pointer to it.
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &reading)
        if Int64(reading.tv_sec) != second {
            second = Int64(reading.tv_sec)
            line = Array("Date: \(Self.text(second))\r\n\(constantLines)".utf8)
        }
        return line
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A moment in the form of `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    ///
    /// It is given in seconds since 1970; before that, 1970 is written.
    package static func text(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        let day = seconds / 86_400
        let time = seconds % 86_400
        let date = civil(day)
        return days[Int(day % 7)] + ", " + twoDigits(date.day) + " " + months[date.month - 1] + " "
            + String(date.year) + " " + twoDigits(time / 3_600) + ":" + twoDigits(time / 60 % 60) + ":"
            + twoDigits(time % 60) + " GMT"
    }

    private static func twoDigits(_ number: some BinaryInteger) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    /// Year, month and day of a day since 1970, in the proleptic Gregorian calendar; eras of 400 years
    /// that begin in March, so that the leap day comes last.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int, day: Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
