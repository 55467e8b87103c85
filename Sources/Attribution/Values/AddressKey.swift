/// The secret of one day: addresses, and whatever is made of one, are hashed under it.
///
/// Once it is destroyed, nobody can find out which address a stored hash was made of, however few addresses there are.
public struct AddressKey: Sendable {
    /// Days since 1970, in UTC.
    public let day: Int64
    private let key: ServerKey

    init(day: Int64, key: ServerKey) {
        self.day = day
        self.key = key
    }

    /// What is stored instead of an address; nil for one that tells nothing.
    public func addressHashes(of address: NetworkAddress) -> AddressHashes? {
        key.addressHashes(of: address).map {
            AddressHashes(exact: $0.exact, near: $0.near, keyedOn: day)
        }
    }

    /// See ``ServerKey/visit(app:isTest:fingerprint:destinationOrLink:address:userAgent:)``.
    public func visit(
        app: AppID,
        isTest: Bool,
        fingerprint: Fingerprint?,
        destinationOrLink: String,
        address: NetworkAddress,
        userAgent: String
    ) -> KeyedHash {
        key.visit(
            app: app,
            isTest: isTest,
            fingerprint: fingerprint,
            destinationOrLink: destinationOrLink,
            address: address,
            userAgent: userAgent
        )
    }

    /// See ``ServerKey/post(of:campaignKey:journeyID:)``.
    public func post(of visit: KeyedHash, campaignKey: CampaignKey?, journeyID: JourneyID?) -> KeyedHash {
        key.post(of: visit, campaignKey: campaignKey, journeyID: journeyID)
    }

    /// See ``ServerKey/caller(key:isTest:fingerprint:evidence:address:userAgent:)``.
    public func caller(
        key apiKey: KeyID,
        isTest: Bool,
        fingerprint: Fingerprint?,
        evidence: String = "",
        address: NetworkAddress,
        userAgent: String
    ) -> KeyedHash {
        key.caller(
            key: apiKey,
            isTest: isTest,
            fingerprint: fingerprint,
            evidence: evidence,
            address: address,
            userAgent: userAgent
        )
    }

    /// See ``ServerKey/visitor(_:userAgent:)``.
    public func visitor(_ address: AddressHashes?, userAgent: String) -> UInt64 {
        key.visitor(address, userAgent: userAgent)
    }
}
