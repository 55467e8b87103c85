internal import Attribution
internal import JSON

/// The JSON object that a link passes to the app.
enum LinkMetadata {
    /// The object without blanks and line breaks; nil for any other text.
    static func compacted(_ text: String) -> String? {
        guard let value = try? JSONValue(parsing: Array(text.utf8)), case .object = value else { return nil }
        var json = JSONWriter()
        json.value(value)
        return json.text
    }

    /// Merges what a click passes to the app: its own metadata, then the link's, its UTM parameters and its referral
    /// code.
    ///
    /// If the result is too long, returns the click's own metadata, or else the link's.
    static func merged(_ own: String?, _ settings: Link.Settings) -> String? {
        let marks =
            settings.utm.map { ($0.name, $0.value) }
            + (settings.referralCode.map { [("referral_code", $0)] } ?? [])
        guard own == nil || settings.metadata != nil || !marks.isEmpty else { return own }
        guard !marks.isEmpty || (own != nil && settings.metadata != nil) else {
            return own ?? settings.metadata
        }
        var names: Set<String> = []
        var json = JSONWriter()
        json.object { json in
            for text in [own, settings.metadata] {
                for member in members(of: text) where names.insert(member.name).inserted {
                    json.name(member.name)
                    json.value(member.value)
                }
            }
            for (name, value) in marks where names.insert(name).inserted { json.member(name, value) }
        }
        guard json.bytes.count <= Link.Settings.maximumMetadataByteCount else {
            return own ?? settings.metadata
        }
        return json.text
    }

    private static func members(of text: String?) -> [JSONObject.Member] {
        guard let text, let value = try? JSONValue(parsing: Array(text.utf8)) else { return [] }
        return value.object?.members ?? []
    }
}
