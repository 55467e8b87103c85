import Attribution
import QRCodes
import Server

extension FuzzEntry {
    static let timestamp = FuzzEntry(
        same: "timestamp",
        tokens: [
            "-", ":", "T", "t", "Z", "z", "+", ".", "+03:00", "-00:00", "60", "24", "0000", "9999", "02-29",
            ".999999999999", "\u{0}",
        ]
    ) {
        Timestamp(iso8601: $0)
    } write: {
        $0.iso8601
    }

    static let identifier = FuzzEntry(
        text: "identifier",
        tokens: ["clk_", "app_", "key_", "_", "0", "z", "Z", "7", "8", "i", "l", "o", "u", "é"]
    ) { (text) throws(BrokenPromise) in
        let texts = [ClickID(text)?.text, AppID(text)?.text, KeyID(text)?.text]
        try promise(texts.allSatisfy { $0 == nil || $0 == text }, "an id changes when it is read and written")
    }

    static let fingerprint = FuzzEntry(
        text: "fingerprint",
        tokens: ["0", "f", "F", "g", " ", "0x", "é", "\u{0}", "0123456789abcdef"]
    ) { (text) throws(BrokenPromise) in
        guard let fingerprint = Fingerprint(hex: text) else { return }
        try promise(fingerprint.hex == text.lowercased(), "a fingerprint differs from its text")
    }

    /// Campaign keys, journey ids and install ids.
    static let names = FuzzEntry(text: "names", tokens: ["j_", "-", "_", " ", "é", "\u{0}", "\n", "SUMMER"]) {
        (text) throws(BrokenPromise) in
        _ = CampaignKey(text)
        _ = JourneyID(text)
        _ = InstallID(text)
        _ = Fingerprint(of: text)
    }

    static let keyText = FuzzEntry(
        text: "key-text",
        tokens: ["app_", "server_", "_", "-", " ", "\u{7f}", "\u{0}", "é"]
    ) { (text) throws(BrokenPromise) in
        try promise(KeyDigest(of: text) == KeyDigest(of: text), "a key has two digests")
        guard let key = KeyText(operatorsOwn: text) else { return }
        try promise(key.text == text, "a key differs from its text")
        try promise(!String(reflecting: key).contains(text), "a key's description contains the key")
    }

    static let rateLimit = FuzzEntry(
        text: "rate-limit",
        tokens: ["/s", ":", "0", "9223372036854775807", "-1", " ", "+"]
    ) { (text) throws(BrokenPromise) in
        guard let limit = RateLimit(text) else { return }
        try promise(limit.burst > 0, "a rate limit allows no request")
    }

    static let qrColor = FuzzEntry(text: "qr-color", tokens: ["#", "0", "f", "F", "g", " ", "#1a2b3c", "é"]) {
        (text) throws(BrokenPromise) in
        guard let color = try? QRColor(parsing: text) else { return }
        try promise((try? QRColor(parsing: color.text)) == color, "a written colour is read differently")
        _ = try? QRStyle(foreground: color)
    }

    /// The query of a QR code's address.
    static let qrStyle = FuzzEntry(
        text: "qr-style",
        tokens: QRStyleField.allCases.map { "&\($0.rawValue)=" } + [
            "size=4096", "1a2b3c", "%23", "#", "fff", "H", "true", "0", "-1", "99999999999999999999", "%00",
            "+",
        ]
    ) { (text) throws(BrokenPromise) in
        let style: QRStyle
        do throws(FieldProblems) {
            style = try QRStyle(QRStyleFields(query: text), of: Link.Settings())
        } catch {
            try promise(!error.all.isEmpty, "a style is refused without a message")
            try promise(error.all.allSatisfy { $0.message.hasSuffix(".") }, "a refusal is not a sentence")
            return
        }
        try promise(QRStyle.allowedPixels.contains(style.pixels), "a picture's size is out of range")
        try promise(QRStyle.allowedQuietZone.contains(style.quietZone), "a quiet zone is out of range")
        let hasRoom = !style.hasRoomForLogo || style.errorCorrection == .high
        try promise(hasRoom, "a code with a logo has less than level H")
    }
}
