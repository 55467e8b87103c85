internal import Attribution
internal import HTTPServer
internal import Server
internal import Storage

/// Reads the texts of settings and options; its functions return nil for a text that is not allowed.
enum ValueText {
    /// Reads digits, without a sign or blanks.
    static func integer<Number: FixedWidthInteger>(_ text: String, in range: ClosedRange<Number>) -> Number? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.allSatisfy(digits.contains), let number = Number(text), range.contains(number) else {
            return nil
        }
        return number
    }

    /// Reads a number from 0 to 1: digits with or without a decimal point.
    static func probability(_ text: String) -> Double? {
        let isPlain = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
        }
        guard isPlain, let number = Double(text), (0...1).contains(number) else { return nil }
        return number
    }

    static func path(_ text: String) -> String? { text.isEmpty || text.utf8.contains(0) ? nil : text }

    /// Reads the path of a database file, or the URL of a PostgreSQL database.
    ///
    /// - Throws: an error for other URLs; the error repeats only the scheme, because a URL may contain a password.
    static func database(_ text: String) throws(InvalidValue) -> String? {
        guard let scheme = text.firstRange(of: "://").map({ text[..<$0.lowerBound].lowercased() }) else {
            return path(text)
        }
        var refusal = InvalidValue(text: scheme + "://…")
        guard DatabaseURL.scheme(of: text) != nil else { throw refusal }
        refusal.sentence = DatabaseURL.fault(of: text)
        guard refusal.sentence == nil else { throw refusal }
        return text
    }

    /// Reads a name: 1 to 100 characters, at least one visible, no control characters, no white space at the ends.
    static func name(_ text: String) -> String? {
        guard (1...100).contains(text.count), !hasControls(text), let first = text.first,
            let last = text.last,
            !first.isWhitespace, !last.isWhitespace,
            text.unicodeScalars.contains(where: { !$0.properties.isDefaultIgnorableCodePoint })
        else { return nil }
        return text
    }

    /// Returns a name, or an empty text.
    static func label(_ text: String) -> String? { text.isEmpty ? text : name(text) }

    /// Returns a destination in its stored form, such as `https://shop.example` for `https://Shop.example/`.
    static func destination(_ text: String) throws(InvalidValue) -> String? {
        do throws(DestinationError) {
            return try Destination(parsing: text).text
        } catch {
            throw InvalidValue(text: text, sentence: "is not a destination. \(error.message)")
        }
    }

    /// Reads `off`, or a limit as in `20/s:500`.
    static func rateLimit(_ text: String) -> RateLimitChoice? {
        text == "off" ? .off : RateLimit(text).map(RateLimitChoice.limit)
    }

    /// Reads an https address that contains `{host}`, or `none`, whose value is nil.
    static func copies(_ text: String) -> String?? {
        guard text != "none" else { return .some(nil) }
        let example = text.replacing("{host}", with: "host.example")
        guard example != text, (try? WebURL(parsing: example)) != nil else { return nil }
        return text
    }

    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}

// The kinds of the settings' values.

extension ValueKind where Value: FixedWidthInteger & Sendable {
    static func number(_ range: ClosedRange<Value>) -> ValueKind { whole("N", "number", range) }
    static func bytes(_ range: ClosedRange<Value>) -> ValueKind { whole("BYTES", "number", range) }

    static func seconds(_ range: ClosedRange<Value>) -> ValueKind {
        whole("SECONDS", "number of seconds", range)
    }

    private static func whole(_ placeholder: String, _ noun: String, _ range: ClosedRange<Value>)
        -> ValueKind
    {
        ValueKind(placeholder, "a whole \(noun) from \(range.lowerBound) to \(range.upperBound)") {
            ValueText.integer($0, in: range)
        }
    }
}

extension ValueKind {
    static func address(_ port: Int) -> ValueKind<ListenAddress> {
        let examples = "127.0.0.1:\(port) or [::1]:\(port)"
        return .init("ADDRESS:PORT", "an IP address and a port, as in \(examples)") { ListenAddress($0) }
    }

    static var host: ValueKind<LinkHost> {
        .init("HOST", "a host name without a port, as in stats.example.com", format: { $0.text }) {
            LinkHost(naming: $0)
        }
    }

    static var dashboardListen: ValueKind<DashboardListen> {
        .init(
            "ADDRESS:PORT",
            "an IP address and a port, as in 127.0.0.1:8081, or off",
            format: { $0.address.map { "\($0)" } ?? "off" },
            { text in text == "off" ? .off : ListenAddress(text).map { .named($0) } }
        )
    }

    static var addressRange: ValueKind<AddressRange> {
        .init("CIDR", "an address range, as in 10.0.0.0/8 or fd00::/8") { AddressRange($0) }
    }

    static var postbackAllowance: ValueKind<PostbackAllowance> {
        .init("CIDR[:PORT]", "an address range with or without a port, as in 10.0.0.0/8:8443") {
            PostbackAllowance($0)
        }
    }

    static var file: ValueKind<String> { .init("FILE", "the path of a file", ValueText.path) }
    static var directory: ValueKind<String> { .init("DIR", "the path of a directory", ValueText.path) }

    static var database: ValueKind<String> {
        .init(
            "DATABASE",
            "the path of a database file, or postgres://user@host/database",
            ValueText.database
        )
    }

    static var name: ValueKind<String> {
        .init(
            "NAME",
            "1 to 100 characters, no white space at the ends, no control characters",
            ValueText.name
        )
    }

    static var destination: ValueKind<String> {
        .init("PREFIX", "a scheme or a site, as in myapp:// or https://shop.example", ValueText.destination)
    }

    static var copies: ValueKind<String?> {
        .init(
            "URL",
            "an https address with {host} instead of the host, or none",
            format: { $0 ?? "none" },
            ValueText.copies
        )
    }

    static var rateLimit: ValueKind<RateLimitChoice> {
        .init(
            "N/s:BURST",
            "off, or a number a second and a number at once, as in 20/s:500",
            ValueText.rateLimit
        )
    }

    static var domainWatch: ValueKind<Int64> {
        .init("SECONDS", "0, or a whole number of seconds from 60 to 604800") {
            $0 == "0" ? 0 : ValueText.integer($0, in: 60...604_800)
        }
    }

    static var window: ValueKind<AttributionWindow> {
        let allowed = AttributionWindow.allowedSeconds
        let words = "a whole number of seconds from \(allowed.lowerBound) to \(allowed.upperBound)"
        return .init("SECONDS", words, format: { "\($0.seconds)" }) {
            ValueText.integer($0, in: allowed).flatMap(AttributionWindow.init(seconds:))
        }
    }

    static var playBounds: ValueKind<PlayBounds> {
        let seconds = "\(PlayBounds.allowedSeconds.lowerBound) to \(PlayBounds.allowedSeconds.upperBound)"
        return .init(
            "BEFORE:AFTER",
            "two whole numbers of seconds from \(seconds), as in \(PlayBounds.standard.text)",
            format: \.text,
            { PlayBounds($0) }
        )
    }

    static var duration: ValueKind<Duration> {
        .init("SECONDS", "a whole number of seconds from 1 to 3600", format: { "\($0.components.seconds)" }) {
            ValueText.integer($0, in: 1...3600).map { .seconds($0 as Int) }
        }
    }

    static var durability: ValueKind<Durability> {
        .init("full|relaxed", "full or relaxed", format: \.rawValue) { Durability(rawValue: $0) }
    }

    static var logFormat: ValueKind<LogFormat> {
        .init("json|text", "json or text") { LogFormat(rawValue: $0) }
    }

    static var key: ValueKind<KeyText> {
        .init("KEY", "32 to 256 visible ASCII characters") { KeyText(operatorsOwn: $0) }
    }
}
