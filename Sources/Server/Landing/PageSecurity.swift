internal import Attribution
internal import HTTPServer

/// Header fields of every page that let nothing but its own parts run or load in it (ASVS 5.0, 3.4).
enum PageSecurity {
    /// Creates an unguessable word by which a page marks its own script and style.
    static func nonce(_ random: RandomSource) -> String {
        Base64URL.text(of: random.bytes(16))
    }

    /// - Parameters:
    ///   - nonce: the page's nonce.
    ///   - images: addresses of pictures on other hosts that the page shows.
    ///   - hasScript: whether it runs a script, which posts its click to the service.
    /// - Returns: the lines of the response's head.
    static func fields(nonce: String, images: [String?], hasScript: Bool) -> [FieldLine] {
        let hosts = Set(images.compactMap { $0.flatMap(origin) }).sorted()
        let script = hasScript ? "script-src 'nonce-\(nonce)'; connect-src 'self'; " : ""
        let policy =
            "default-src 'none'; \(script)style-src 'nonce-\(nonce)'; "
            + "img-src \((["'self'", "data:"] + hosts).joined(separator: " ")); "
            + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        return [
            FieldLine(name: "Content-Security-Policy", value: policy),
            FieldLine(name: "Referrer-Policy", value: "strict-origin"),
            FieldLine(name: "Cross-Origin-Opener-Policy", value: "same-origin"),
            .noStore,
        ]
    }

    /// `https://host` of an address that an operator stored; nil for one that could contain more than a host.
    private static func origin(_ url: String) -> String? {
        let start = "https://"
        guard url.hasPrefix(start) else { return nil }
        let authority = url.dropFirst(start.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let isPlain = authority.utf8.allSatisfy { byte in
            (0x30...0x3a).contains(byte) || (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte)
                || byte == 0x2d || byte == 0x2e
        }
        return isPlain && !authority.isEmpty ? start + authority : nil
    }
}
