package import Attribution
package import HTTPServer

/// Reads the header fields and the query of a first launch's request.
package enum LaunchFields {
    /// - Throws: 400 for a text that is not an install id, and for several fields.
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

    /// Adds what names a click or the device, unless the evidence already has it from a better source.
    ///
    /// Ignores malformed values instead of refusing them, because released clients give up after an error.
    ///
    /// - Returns: whether any value could have named a click. A referrer names one only if a link led to the store,
    ///   and an advertising id of zeros is withheld.
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

    /// The client's name and release: `ios 1.8.9` for `paylisher-ios/1.8.9`.
    ///
    /// Only printable ASCII is kept, up to the length of a record's field.
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
