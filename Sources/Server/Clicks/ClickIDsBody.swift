internal import Attribution
internal import JSON

/// The click ids of ad networks as a JSON object, the form in which a click stores them.
public enum ClickIDsBody {
    /// Returns the ids as a JSON object; nil if there are none.
    static func json(_ ids: NetworkClickIDs) -> String? {
        guard !ids.items.isEmpty else { return nil }
        return JSONWriter.object { json in
            for item in ids.items { json.member(item.name, item.value) }
        }.text
    }

    /// Returns stored ids as words for people, such as `gclid x (Google Ads)`; nil without any.
    public static func words(_ stored: String?) -> String? {
        guard let stored, let value = try? JSONValue(parsing: Array(stored.utf8)) else { return nil }
        return value.object?.members.map { member in
            let network = NetworkClickIDs.parameter(named: member.name).map { " (\($0.network))" } ?? ""
            return "\(member.name) \(member.value.string ?? "")\(network)"
        }.joined(separator: ", ")
    }

    /// Returns a click's metadata with its ids as the member `click_ids`, unless the metadata has one; nil without both.
    static func metadata(of facts: Click.Facts) -> String? {
        guard let ids = facts.clickIDs else { return facts.metadata }
        let added = "\"\(name)\":\(ids)}"
        guard let metadata = facts.metadata, let end = metadata.utf8.lastIndex(of: UInt8(ascii: "}")),
            let object = (try? JSONValue(parsing: Array(metadata.utf8)))?.object, !object.members.isEmpty
        else { return "{\(added)" }
        // The operator's own member counts, and the metadata is returned as it was written, to the byte.
        return object[name] == nil ? "\(metadata[..<end]),\(added)" : metadata
    }

    private static let name = "click_ids"
}
