internal import Crypto

extension CreditedDestination {
    /// Of a click: the first words of hashes of where it leads together with its campaign, and of the campaign.
    public init(_ facts: Click.Facts) {
        let campaign = facts.campaignKey?.text
        let place = facts.destination.text + "\u{0}" + (campaign ?? "")
        self.init(
            url: SHA256.digest(of: Array(place.utf8)).words.0,
            campaign: campaign.map { SHA256.digest(of: Array($0.utf8)).words.0 | 1 } ?? 0
        )
    }
}
