import Attribution

extension StatisticsQuery {
    init(campaign: CampaignKey?) {
        self.init()
        self.campaign = campaign
    }

    init(from: Timestamp? = nil, to: Timestamp? = nil, interval: Interval) {
        self.init()
        self.from = from
        self.to = to
        self.interval = interval
    }
}

extension LinkQuery {
    static func of(
        app: AppID? = nil,
        search: String? = nil,
        tag: String? = nil,
        campaignKey: CampaignKey? = nil,
        isArchived: Bool? = false,
        before: LinkID? = nil
    ) -> LinkQuery {
        var query = LinkQuery(isArchived: isArchived)
        query.app = app
        query.search = search
        query.tag = tag
        query.campaignKey = campaignKey
        query.before = before
        return query
    }
}
