package import Attribution
package import HTTPServer

/// What the header fields and the query of a first launch's request say.
package enum LaunchFields {
    /// - Throws: 400 for a text that is no install id, and for several.
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

    /// Adds what names a click or the device, unless the evidence has it from a better place.
    ///
    /// What is malformed is left out and refuses nothing: released clients take an error for the end.
    ///
    /// - Returns: whether there was anything in which a click could have been named. A referrer names one only when a
    ///   link of ours led to the store, and an advertising id of zeros is one that is withheld.
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

    /// What the client calls itself and its release: `ios 1.8.9` for `paylisher-ios/1.8.9`.
    ///
    /// Printable ASCII alone is kept, and no more than a record has room for.
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
