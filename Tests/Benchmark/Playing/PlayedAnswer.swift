/// What a launch was answered, as its client reads it.
package struct PlayedAnswer: Decodable, Equatable {
    /// What its click brought along to be known by.
    package struct Metadata: Decodable, Equatable {
        package let click: Int

        package init(click: Int) {
            self.click = click
        }
    }

    package let matched: Bool
    package var url: String?
    package var campaignKey: String?
    package var confidence: Double?
    package var metadata: Metadata?

    package init(
        matched: Bool,
        url: String? = nil,
        campaignKey: String? = nil,
        confidence: Double? = nil,
        metadata: Metadata? = nil
    ) {
        self.matched = matched
        self.url = url
        self.campaignKey = campaignKey
        self.confidence = confidence
        self.metadata = metadata
    }

    /// Whether it leads to the link of a click and credits its campaign; what the server adds to links is behind a `?`.
    func leads(to link: String, of campaign: String) -> Bool {
        matched && campaignKey == campaign && url?.split(separator: "?").first.map(String.init) == link
    }
}
