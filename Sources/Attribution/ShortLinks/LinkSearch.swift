extension Link {
    /// What a search looks through: slug, title, campaign key and destinations, a line each, in small letters.
    public var searchText: String {
        let targets =
            [settings.target, settings.iosTarget, settings.androidTarget] + settings.variants.map(\.target)
        let texts = [slug.text, settings.title, settings.campaignKey?.text] + targets.map { $0?.text }
        return texts.compactMap(\.self).joined(separator: "\n").asciiLowercased
    }
}

extension LinkQuery {
    /// What occurs in ``Link/searchText`` of the links that are searched for; nil where nothing is.
    public var searchedText: String? {
        guard let text = search?.trimmed.asciiLowercased, !text.isEmpty else { return nil }
        return text
    }
}
