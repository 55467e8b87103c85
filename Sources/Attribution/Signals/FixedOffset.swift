/// A time zone that is nothing but a difference to UTC.
struct FixedOffset: Equatable {
    /// East of Greenwich is positive; at most 18 hours either way.
    let minutes: Int

    /// Reads `gmt+3`, `utc+03:00`, `+03:00`, `+0300`, and `etc/gmt-3`, whose sign is that of POSIX: west is plus.
    init?(_ text: String) {
        var rest = text.asciiLowercased.utf8[...]
        let isInverted = rest.starts(with: "etc/".utf8)
        if isInverted { rest = rest.dropFirst(4) }
        let isNamed = rest.starts(with: "gmt".utf8) || rest.starts(with: "utc".utf8)
        if isNamed { rest = rest.dropFirst(3) }
        guard isNamed || !isInverted, let sign = rest.popFirst(),
            sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let minutes = Self.minutes(Array(rest))
        else { return nil }
        self.minutes = (sign == UInt8(ascii: "-")) != isInverted ? -minutes : minutes
    }

    /// `UTC+03:00`, and `UTC` for no difference.
    var canonical: String {
        minutes == 0 ? "UTC" : "UTC" + clock
    }

    /// What apps may be told: the name that the browser gave, else what the systems make of an offset.
    func spellings(given name: String) -> [Spelling] {
        var names = [name, "GMT" + clock, "GMT" + clock.filter { $0 != ":" }]
        if minutes % 60 == 0 {
            names.append("Etc/GMT\(minutes > 0 ? "-" : "+")\(minutes.magnitude / 60)")
        }
        var distinct: [String] = []
        for name in names where !distinct.contains(name) { distinct.append(name) }
        return distinct.map { Spelling($0, weight: 1 / Double(distinct.count)) }
    }

    /// `+03:00`.
    private var clock: String {
        let (hours, rest) = minutes.magnitude.quotientAndRemainder(dividingBy: 60)
        return "\(minutes < 0 ? "-" : "+")\(Self.twoDigits(hours)):\(Self.twoDigits(rest))"
    }

    /// `3`, `03`, `0330` or `03:30`, up to 18 hours.
    private static func minutes(_ text: [UInt8]) -> Int? {
        let digits = text.filter(\.isASCIIDigit)
        let hasColon = text.count == 5 && text[2] == UInt8(ascii: ":")
        guard text.count == digits.count + (hasColon ? 1 : 0), [1, 2, 4].contains(digits.count) else {
            return nil
        }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let (hours, minutes) = digits.count == 4 ? (number / 100, number % 100) : (number, 0)
        return hours <= 18 && minutes < 60 ? hours * 60 + minutes : nil
    }

    private static func twoDigits(_ number: UInt) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}
