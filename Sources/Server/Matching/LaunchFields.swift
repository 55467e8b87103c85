package import Attribution
package import HTTPServer
internal import JSON

/// Reads the header fields and the query of a first launch's request.
package enum LaunchFields {
    /// Reads `X-Install-ID`; nil without it.
    ///
    /// - Throws: 400 for a text that is not an install id, and for several lines of the field.
    package static func installID(_ request: Request) throws(APIError) -> InstallID? {
        guard let text = try request.onlyField("X-Install-ID") else { return nil }
        return try installID(text, from: "X-Install-ID")
    }

    static func installID(_ text: String, from field: String) throws(APIError) -> InstallID {
        guard let installID = InstallID(text) else {
            throw .invalidField(field, "must be 1 to 64 of the characters A-Z a-z 0-9 _ -")
        }
        return installID
    }

    static func platform(_ request: Request) -> Platform {
        request.field("x-device-platform").flatMap { Platform(rawValue: $0.lowercased()) }
            ?? request.withFieldBytes("user-agent") { UserAgent($0).platform } ?? .unknown
    }

    /// Adds the values that name a click or the device, unless the body has provided them.
    ///
    /// Ignores malformed values instead of refusing them, because released clients give up after an error.
    ///
    /// - Returns: whether the request has such values, even if they name no click. A referrer names a click only if a
    ///   link led to the store; an advertising id of zeros is withheld and names nothing.
    @discardableResult
    package static func add(_ request: Request, to evidence: inout LaunchEvidence) -> Bool {
        let query = request.query
        func item(_ name: String) -> String? { query.flatMap { QueryItem.value(of: name, inQuery: $0) } }
        let (token, clickID) = (item("token"), item("click_id"))
        let referrer = request.field("x-install-referrer")
        evidence.add(token: token, clickID: clickID, referrer: referrer)
        var names = [token, clickID, referrer].contains { $0?.isEmpty == false }
        for kind in AdvertisingID.Kind.allCases {
            for case let text? in [item(kind.rawValue), request.field(kind.headerName)] {
                switch AdvertisingID.reading(text, as: kind) {
                case .id(let id):
                    evidence.add(id)
                    names = true
                case .withheld: names = true
                case .malformed: continue
                }
            }
        }
        return names
    }

    /// Reads the client's name and release from `X-SDK-Version`: `ios 1.8.9` for `paylisher-ios/1.8.9`; nil without it.
    ///
    /// Removes all characters but printable ASCII, and cuts the text to 64 characters, the limit of a record's field.
    /// Returns nil if only blanks remain.
    package static func sdkVersion(_ request: Request) -> String? {
        guard let text = request.field("x-sdk-version") else { return nil }
        let own = text.hasPrefix(ownClients) ? text.dropFirst(ownClients.count) : text[...]
        let words = own.utf8.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: " ") : $0 }
        let kept = words.filter { (0x20...0x7e).contains($0) }.prefix(maximumVersionLength)
        let version = String(decoding: kept, as: UTF8.self)
        return version.utf8.allSatisfy { $0 == UInt8(ascii: " ") } ? nil : version
    }

    private static let ownClients = "paylisher-"
    private static let maximumVersionLength = 64
}

/// The signals that newer clients send together with the fingerprint, in the header field `X-Device-Signals`.
///
///     {"model":"iPhone","screenWidth":"1170","osMajor":"17","tz":"Europe/Istanbul","lang":"tr"}
///
/// `screenWidth` is the shorter side in pixels, as a text or null. Malformed values are ignored instead of refused,
/// because released clients give up after an error.
package enum DeviceSignalsField {
    package static let name = "x-device-signals"

    private static let maximumTextLength = 255
    /// The allowed pixels of a screen's shorter side.
    private static let widths = 100...100_000
    private static let majors = 1...999

    /// Reads the field; nil if it is missing or not a JSON object.
    package static func read(_ request: Request, _ data: DeviceData) -> CanonicalSignals? {
        // A malformed field counts as missing.
        guard request.hasField(name), let field = request.field(name),
            let object = (try? JSONValue(parsing: Array(field.utf8)))?.object
        else { return nil }
        func text(_ name: String) -> String? {
            object[name]?.string.flatMap { $0.utf8.count <= maximumTextLength ? $0 : nil }
        }
        func number(_ name: String, in allowed: ClosedRange<Int>) -> Int? {
            let value = object[name]
            let number = value?.int64.map { Int(clamping: $0) } ?? value?.string.flatMap { Int($0) }
            return number.flatMap { allowed.contains($0) ? $0 : nil }
        }
        var signals = NativeSignals(platform: LaunchFields.platform(request))
        signals.model = text("model")
        signals.timezone = text("tz")
        signals.language = text("lang")
        var canonical = CanonicalSignals(signals, data: data)
        canonical.panelWidth = number("screenWidth", in: widths)
        if let major = number("osMajor", in: majors) { canonical.system = .major(major) }
        return canonical
    }
}
