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
    package static func add(_ request: Request, to evidence: inout LaunchEvidence) {
        let query = request.query
        func item(_ name: String) -> String? { query.flatMap { QueryItem.value(of: name, inQuery: $0) } }
        evidence.add(
            token: item("token"),
            clickID: item("click_id"),
            referrer: request.field("x-install-referrer")
        )
        for kind in AdvertisingID.Kind.allCases {
            for text in [item(kind.rawValue), request.field(kind.headerName)] {
                if let id = text.flatMap({ AdvertisingID($0, as: kind) }) { evidence.add(id) }
            }
        }
    }
}
