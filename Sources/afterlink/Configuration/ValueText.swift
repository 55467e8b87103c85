internal import Attribution
internal import Server

/// Reads the texts of settings and options; nil for what is not allowed.
enum ValueText {
    /// Digits only: no sign, no blanks.
    static func integer<Number: FixedWidthInteger>(_ text: String, in range: ClosedRange<Number>) -> Number? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.allSatisfy(digits.contains), let number = Number(text), range.contains(number) else {
            return nil
        }
        return number
    }

    /// Digits with a decimal point or without, 0 to 1.
    static func probability(_ text: String) -> Double? {
        let isPlain = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
        }
        guard isPlain, let number = Double(text), (0...1).contains(number) else { return nil }
        return number
    }

    static func path(_ text: String) -> String? {
        text.isEmpty || text.utf8.contains(0) ? nil : text
    }

    /// - Throws: a sentence about database URLs, which may hold a password and are therefore never repeated.
    static func databasePath(_ text: String) throws(InvalidValue) -> String? {
        guard let scheme = text.firstRange(of: "://").map({ text[..<$0.lowerBound].lowercased() }) else {
            return path(text)
        }
        guard scheme == "postgres" || scheme == "postgresql" else {
            throw InvalidValue(text: scheme + "://…")
        }
        throw InvalidValue(
            text: scheme + "://…",
            sentence:
                "is a PostgreSQL server, which this version cannot use yet; give the path of an SQLite file"
        )
    }

    /// Returns a name of 1 to 100 characters, of which one is visible and the first and last are no white space.
    static func name(_ text: String) -> String? {
        guard (1...100).contains(text.count), !hasControls(text), let first = text.first,
            let last = text.last,
            !first.isWhitespace, !last.isWhitespace,
            text.unicodeScalars.contains(where: { !$0.properties.isDefaultIgnorableCodePoint })
        else { return nil }
        return text
    }

    /// Nothing, or what could be a name.
    static func label(_ text: String) -> String? {
        text.isEmpty ? text : name(text)
    }

    /// As it is stored, such as `https://shop.example` for `https://Shop.example/`.
    static func destination(_ text: String) throws(InvalidValue) -> String? {
        do throws(DestinationError) {
            return try Destination(parsing: text).text
        } catch {
            throw InvalidValue(text: text, sentence: "is no destination. \(error.message)")
        }
    }

    /// `off`, or as in `20/s:500`.
    static func rateLimit(_ text: String) -> RateLimitChoice? {
        text == "off" ? .off : RateLimit(text).map(RateLimitChoice.limit)
    }

    /// An https address with `{host}` in it; `none` for no address.
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
