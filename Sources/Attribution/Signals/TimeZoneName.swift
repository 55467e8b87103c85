/// The names of time zones, of which browsers and systems spell many differently.
public enum TimeZoneName {
    /// The one name for all spellings of a zone.
    ///
    /// Known names are found in either case. `UTC` stands for itself and its many other names, `UTC+03:00`
    /// for a fixed offset. A name that is not known is its own canonical name, as it came.
    public static func canonical(_ name: String) -> String {
        canonicalNames[name.asciiLowercased] ?? fixedOffset(name) ?? name
    }

    private static let canonicalNames: [String: String] = {
        var names: [String: String] = [:]
        for line in TimeZoneAliases.table.split(separator: "\n") {
            let aliases = line.split(separator: " ").map(String.init)
            for alias in aliases { names[alias.asciiLowercased] = aliases.first }
        }
        return names
    }()

    /// `GMT+3`, `UTC+3`, `+03:00`, `+0300`, and `Etc/GMT-3`, whose sign is that of POSIX: west is plus.
    private static func fixedOffset(_ name: String) -> String? {
        var rest = Array(name.utf8)[...]
        let isInverted = name.asciiLowercased.hasPrefix("etc/")
        if isInverted { rest = rest.dropFirst(4) }
        let isNamed = ["gmt", "utc"].contains { rest.prefix(3).map(\.asciiLowercased).elementsEqual($0.utf8) }
        if isNamed { rest = rest.dropFirst(3) }
        guard isNamed || !isInverted, let sign = rest.popFirst(),
            sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let minutes = minutes(rest)
        else { return nil }
        guard minutes > 0 else { return "UTC" }
        let isWest = (sign == UInt8(ascii: "-")) != isInverted
        return "UTC\(isWest ? "-" : "+")\(twoDigits(minutes / 60)):\(twoDigits(minutes % 60))"
    }

    /// `3`, `03`, `0330` or `03:30`, up to 18 hours.
    private static func minutes(_ text: ArraySlice<UInt8>) -> Int? {
        let digits = text.filter(\.isASCIIDigit)
        let hasColon = text.count == 5 && text[text.startIndex + 2] == UInt8(ascii: ":")
        guard text.count == digits.count + (hasColon ? 1 : 0), [1, 2, 4].contains(digits.count) else {
            return nil
        }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let (hours, minutes) = digits.count == 4 ? (number / 100, number % 100) : (number, 0)
        return hours <= 18 && minutes < 60 ? hours * 60 + minutes : nil
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}
