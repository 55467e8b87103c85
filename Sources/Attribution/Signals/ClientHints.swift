/// What a browser says of its device in the header fields that begin with `Sec-CH-UA`.
///
/// Source: User-Agent Client Hints (wicg.github.io/ua-client-hints). The model and the version come only to sites
/// that ask for them with `Accept-CH`.
public struct ClientHints: Equatable, Sendable {
    /// `Sec-CH-UA-Platform`, as `Android`, `iOS` or `Windows`.
    public var platform: String?
    /// `Sec-CH-UA-Mobile`.
    public var isMobile: Bool?
    /// `Sec-CH-UA-Model`; empty on desktops.
    public var model: String?
    /// `Sec-CH-UA-Platform-Version`, as `14.0.0`.
    public var platformVersion: String?

    public init(
        platform: String? = nil,
        isMobile: Bool? = nil,
        model: String? = nil,
        platformVersion: String? = nil
    ) {
        self.platform = platform
        self.isMobile = isMobile
        self.model = model
        self.platformVersion = platformVersion
    }

    /// From the values of the fields as they came; one that breaks the grammar counts as missing (RFC 8941, 4.2).
    public init(
        platformField: String?,
        mobileField: String?,
        modelField: String?,
        platformVersionField: String?
    ) {
        self.init(
            platform: platformField.flatMap { StructuredItem($0)?.string },
            isMobile: mobileField.flatMap { StructuredItem($0)?.boolean },
            model: modelField.flatMap { StructuredItem($0)?.string },
            platformVersion: platformVersionField.flatMap { StructuredItem($0)?.string }
        )
    }

    var knownPlatform: Platform? {
        switch platform {
        case "Android": .android
        case "iOS": .ios
        case nil, "", "Unknown": nil
        default: .other
        }
    }
}
