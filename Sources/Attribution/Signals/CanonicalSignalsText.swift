/// The canonical values as one readable line, in which a store retains a click's signals.
///
///     ios; model=iPhone; os=17.2; screen=390x844; scale=3.0; timezone=Europe/Istanbul; languages=tr,en
///
/// The platform comes first, then the known values. `os` has the known numbers: `17`, `17.2` or `17.2.1`; a
/// known patch of 0 is written too. `os=frozen 18.7` has the number that a browser prints instead of the
/// system's version. `given` is the time zone's name as it was sent, if it is not the canonical one. In
/// values, `%`, `;`, `,` and control characters are percent-encoded.
extension CanonicalSignals {
    /// The line, without a line break.
    public var line: String {
        var parts = [platform.rawValue]
        func add(_ name: String, _ value: String?) { if let value { parts.append(name + "=" + value) } }
        add("model", model.map(Self.escaped))
        add("os", system.text)
        add("screen", screen?.text)
        add("scale", scale.map { String($0) })
        add("width", panelWidth.map { String($0) })
        add("timezone", timezone.map(Self.escaped))
        add("given", givenTimezone == timezone ? nil : givenTimezone.map(Self.escaped))
        if !languages.isEmpty { add("languages", languages.map(Self.escaped).joined(separator: ",")) }
        return parts.joined(separator: "; ")
    }

    /// Reads a line; nil for any other text.
    ///
    /// Ignores values with unknown names, which a later version may add.
    public init?(line: String) {
        var parts = line.utf8.split(separator: UInt8(ascii: ";"))[...]
        guard let first = parts.popFirst(),
            let platform = Platform(rawValue: String(Substring(first)).trimmed)
        else { return nil }
        self.init(platform: platform)
        for part in parts {
            let part = Array(part)[...].trimmed
            guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = String(decoding: part[..<sign], as: UTF8.self)
            guard read(name, Array(part[(sign + 1)...])) else { return nil }
        }
        givenTimezone = givenTimezone ?? timezone
    }

    /// Reads one value; returns false if it is not a value for this name.
    private mutating func read(_ name: String, _ value: [UInt8]) -> Bool {
        let text = String(decoding: value, as: UTF8.self)
        switch name {
        case "model": model = Self.unescaped(value[...])
        case "os":
            guard let reading = OSVersionReading(text: text) else { return false }
            system = reading
        case "screen":
            let sides = text.split(separator: "x").map { Double($0) }
            guard sides.count == 2, let size = ScreenSize(sides[0], sides[1]) else { return false }
            screen = size
        case "scale":
            guard let number = Double(text) else { return false }
            scale = number
        case "width":
            guard let number = Int(text) else { return false }
            panelWidth = number
        case "timezone": timezone = Self.unescaped(value[...])
        case "given": givenTimezone = Self.unescaped(value[...])
        case "languages": languages = value.split(separator: UInt8(ascii: ",")).map { Self.unescaped($0) }
        default: break
        }
        return true
    }

    private static func escaped(_ text: String) -> String {
        let reserved = "%;,".utf8
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte < 0x20 || byte == 0x7f || reserved.contains(byte) {
                PercentEncoding.append(byte, to: &bytes)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: PercentEncoding.decoded(text), as: UTF8.self)
    }
}

extension OSVersionReading {
    private static let frozenPrefix = "frozen "

    /// The known numbers of the version; nil if none is known.
    fileprivate var text: String? {
        switch self {
        case .unknown: nil
        case .frozen(let version): Self.frozenPrefix + version.text(for: .ios)
        case .major(let number): String(number)
        case .minor(let version): "\(version.major).\(version.minor)"
        case .exact(let version): "\(version.major).\(version.minor).\(version.patch)"
        }
    }

    /// Reads the text of a version; nil for any other text.
    fileprivate init?(text: String) {
        if text.hasPrefix(Self.frozenPrefix) {
            guard let version = OSVersion(text.dropFirst(Self.frozenPrefix.count)) else { return nil }
            self = .frozen(version)
            return
        }
        guard let version = OSVersion(text) else { return nil }
        switch text.utf8.count(where: { $0 == UInt8(ascii: ".") }) {
        case 0: self = .major(version.major)
        case 1: self = .minor(version)
        default: self = .exact(version)
        }
    }
}
