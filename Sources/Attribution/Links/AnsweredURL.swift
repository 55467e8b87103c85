/// The link as a client gets it.
extension DeepLinkURL {
    /// The names under which a link may carry its campaign key itself.
    private static let campaignKeyNames = ["keyName", "key", "k"]

    /// The link with `source`, `keyName` and `jid` added to its query, before the fragment.
    ///
    /// Released clients read the three from the link. What the link says itself, even if empty, is left
    /// alone, and `direct` and `unknown` are not written: they tell a client nothing.
    public func answered(source: SourceToken, campaignKey: CampaignKey?, journeyID: JourneyID) -> String {
        let names = Set(queryItems.map(\.name))
        var added: [(name: String, value: String)] = []
        if source.isWritten, !names.contains("source") {
            added.append(("source", source.rawValue))
        }
        if let campaignKey, names.isDisjoint(with: Self.campaignKeyNames) {
            added.append(("keyName", campaignKey.text))
        }
        if !names.contains("jid") {
            added.append(("jid", journeyID.text))
        }
        return appending(added)
    }

    /// The link with `keyName` alone added as above: for a campaign that is credited without saying whose click it was.
    public func answered(campaignKey: CampaignKey?) -> String {
        let names = Set(queryItems.map(\.name))
        guard let campaignKey, names.isDisjoint(with: Self.campaignKeyNames) else { return text }
        return appending([("keyName", campaignKey.text)])
    }

    /// The values are encoded, the names are not.
    func appending(_ items: [(name: String, value: String)]) -> String {
        let bytes = Array(text.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        var answer = Array(bytes[..<end])
        var queryStart = answer.firstIndex(of: UInt8(ascii: "?"))
        for item in items {
            if queryStart == nil {
                queryStart = answer.endIndex
                answer.append(UInt8(ascii: "?"))
            } else if queryStart != answer.endIndex - 1, answer.last != UInt8(ascii: "&") {
                answer.append(UInt8(ascii: "&"))
            }
            answer.append(contentsOf: item.name.utf8)
            answer.append(UInt8(ascii: "="))
            answer.append(contentsOf: PercentEncoding.queryValue(item.value))
        }
        answer.append(contentsOf: bytes[end...])
        return String(decoding: answer, as: UTF8.self)
    }
}
