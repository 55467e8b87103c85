internal import Attribution

/// The search field of every page.
enum DashboardSearch {
    /// Returns the address of the page for the text that a person typed.
    ///
    /// A fingerprint leads to its launches. The id, address or slug of a link leads to the link, and a campaign key to the
    /// campaign. An id of any other kind leads to its explanation.
    static func address(of typed: String, _ exchange: Exchange) async throws(APIError) -> DashboardAddress {
        let text = typed.filter { !$0.isWhitespace }
        if Fingerprint(hex: text) != nil {
            return DashboardAddress("/launches").with("fingerprint", text).with("period", "all")
        }
        if let link = try await link(text, exchange) { return DashboardAddress("/links/\(link.text)") }
        if CheckID(text) == nil, ClickID(text) == nil, let found = try await campaign(typed.trimmed, exchange)
        {
            return found
        }
        guard CheckReference(text, keys: []) != nil, !text.contains("/"), text.utf8.allSatisfy(isPlain) else {
            throw .invalidField("find", DashboardText.notAnID)
        }
        return DashboardAddress("/launches/\(text)")
    }

    /// Returns the page of the campaign with this key if it was ever counted, or else the list of campaigns whose keys
    /// contain the text; nil if there are none.
    private static func campaign(_ text: String, _ exchange: Exchange) async throws(APIError)
        -> DashboardAddress?
    {
        guard let key = CampaignKey(text), !text.isEmpty else { return nil }
        let statistics = exchange.stores.statistics
        for isTest in [false, true] {
            let page = DashboardAddress(OneCampaignPage.path).with("test", isTest ? "true" : nil)
            var query = StatisticsQuery(app: exchange.onlyApp, isTest: isTest)
            (query.campaign, query.hasGroups) = (key, false)
            if try await exchange.statistics(query).totals.values.contains(where: { $0 > 0 }) {
                return page.with("period", "all").with("campaign", key.text)
            }
        }
        var query = CampaignQuery(StatisticsQuery(app: exchange.onlyApp))
        query.search = text
        guard try await !exchange.store(await statistics.campaigns(query)).rows.isEmpty else { return nil }
        return DashboardAddress("/campaigns").with("period", "all").with("search", text)
    }

    /// Returns the link with an id, a slug, or an address such as `https://go.shop.example/summer25?source=x`.
    private static func link(_ text: String, _ exchange: Exchange) async throws(APIError) -> LinkID? {
        if let id = LinkID(text) { return id }
        var (slug, apps) = (text[...], exchange.directory.apps)
        let rest = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
        let host = rest.prefix { $0 != "/" }
        let owners = exchange.directory.apps(onHost: LinkHost(String(host)))
        // Without a scheme, the first part is a host only if an app has this host: a slug may have several parts.
        if rest.count < text.count || host.count < rest.count && !owners.isEmpty {
            apps = owners
            slug = rest.dropFirst(host.count + 1).prefix { $0 != "?" && $0 != "#" }
        }
        let path = QueryItem.text(ofPathPart: String(slug))
        let found = try await exchange.store(await FoundLink.stored(path, of: apps, exchange))
        return (try? found?.link.get())?.id
    }

    /// Returns whether a path may contain a byte without an encoding (RFC 3986 §2.3).
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIIWordByte || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
    }
}
