internal import Attribution
internal import JSON

/// The click ids of ad networks as a JSON object, the form in which a click stores them.
public enum ClickIDsBody {
    /// Returns the ids as a JSON object; nil if there are none.
    static func json(_ ids: NetworkClickIDs) -> String? {
        guard !ids.items.isEmpty else { return nil }
        return JSONWriter.object { json in for item in ids.items { json.member(item.name, item.value) } }.text
    }

    /// Returns stored ids as words for people, such as `gclid x (Google Ads)`; nil without any.
    public static func words(_ stored: String?) -> String? {
        guard let stored, let value = try? JSONValue(parsing: Array(stored.utf8)) else { return nil }
        return value.object?.members.map { member in
            let network = NetworkClickIDs.parameter(named: member.name).map { " (\($0.network))" } ?? ""
            return "\(member.name) \(member.value.string ?? "")\(network)"
        }.joined(separator: ", ")
    }

    /// Returns a click's metadata, and adds its ids as the member `click_ids` if the metadata has no such member.
    ///
    /// Returns nil if the click has neither metadata nor ids.
    static func metadata(of facts: Click.Facts) -> String? {
        guard let ids = facts.clickIDs,
            !LinkMetadata.members(of: facts.metadata).contains(where: { $0.name == name })
        else { return facts.metadata }
        return LinkMetadata.adding(name, json: ids, to: facts.metadata)
    }

    private static let name = "click_ids"
}
