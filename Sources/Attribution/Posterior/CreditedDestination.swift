internal import Crypto

extension CreditedDestination {
    /// Of a click: the first words of hashes of where it leads together with its campaign, and of the campaign.
    public init(_ facts: Click.Facts) {
        self.init(destination: facts.destination.text, campaign: facts.campaignKey?.text)
    }

    /// Of where a click leads, and its campaign's key, as they are stored.
    public init(destination: String, campaign: String?) {
        let place = destination + "\u{0}" + (campaign ?? "")
        self.init(
            url: SHA256.digest(of: Array(place.utf8)).words.0,
            campaign: campaign.map { SHA256.digest(of: Array($0.utf8)).words.0 | 1 } ?? 0
        )
    }
}
