public enum LinkSubject: IdentifiedSubject { public static let prefix = "lnk" }
public typealias LinkID = Identifier<LinkSubject>

/// A short link of an app, which a campaign publishes and visitors tap.
public struct Link: Equatable, Sendable {
    public let id: LinkID
    public let app: AppID
    /// Unique among the links of the app and of its ``Directory/neighbours(of:)``.
    public let slug: LinkSlug
    public var settings: Settings
    public let createdAt: Timestamp
    public var updatedAt: Timestamp
    /// When the link was archived; nil if it is not archived.
    ///
    /// An archived link leads nowhere but retains its slug and its counts.
    public var archivedAt: Timestamp?

    public init(
        id: LinkID,
        app: AppID,
        slug: LinkSlug,
        settings: Settings,
        createdAt: Timestamp,
        updatedAt: Timestamp,
        archivedAt: Timestamp? = nil
    ) {
        (self.id, self.app, self.slug) = (id, app, slug)
        (self.settings, self.createdAt) = (settings, createdAt)
        (self.updatedAt, self.archivedAt) = (updatedAt, archivedAt)
    }

    /// Returns the link's URL on the app's first link host; nil for an app without one.
    public func url(of app: App) -> String? { app.settings.links.hosts.first.map(url(on:)) }

    /// Returns the link's URL on a link host.
    public func url(on host: LinkHost) -> String { "https://\(host.text)/\(slug.text)" }

    /// The target of a tap: a deep link, or a path that is appended to the app's scheme on each platform.
    public enum Target: Hashable, Sendable {
        case url(DeepLinkURL)
        case path(LinkPath)
    }

    /// One of several weighted destinations.
    public struct Variant: Equatable, Sendable {
        /// 1 to 32 of `[A-Za-z0-9_-]`; unique within the link.
        public let name: String
        /// 1 to 10,000; the variant's share of visitors is its weight divided by the sum of all weights.
        public let weight: Int
        public let target: Target
    }

    /// The preview of the link in messengers and social networks.
    public struct Preview: Equatable, Sendable {
        public var title: String?
        public var description: String?
        public var image: WebURL?
    }

    /// The pages that browsers open, instead of the app's pages in stores, if the app is not installed.
    public struct Fallbacks: Equatable, Sendable {
        public var ios: WebURL?
        public var android: WebURL?
        public var huawei: WebURL?
        /// If this is nil, the landing page with a QR code for the phone appears.
        public var desktop: WebURL?
    }

    /// What an operator may change about a link.
    public struct Settings: Equatable, Sendable {
        /// The title by which operators find the link, up to 255 characters.
        public var title: String?
        public var target: Target?
        public var iosTarget: Target?
        public var androidTarget: Target?
        public var fallbacks = Fallbacks()
        public var campaignKey: CampaignKey?
        /// The source as the operator wrote it; each click maps it to a ``SourceToken``.
        public var source: String?
        /// The `utm_…` parameters, in their order.
        public var utm: [QueryItem] = []
        /// A JSON object as the operator wrote it, 8 KiB at most.
        public var metadata: String?
        /// The journey id of all the link's clicks; nil to create one for each click.
        public var journeyID: JourneyID?
        /// The attribution window of the link's clicks; nil for the app's.
        public var window: AttributionWindow?
        /// The time from which the link leads nowhere.
        public var expiresAt: Timestamp?
        public var maximumClicks: Int?
        public var variants: [Variant] = []
        /// 1 to 64 of `[A-Za-z0-9_-]`.
        public var referralCode: String?
        public var preview = Preview()
        public var usesPasteboard = false
        /// Names of query parameters that are passed on to the destination.
        public var passedParameters: [String] = []
        public var tags: [String] = []
        public var qr = QRDefaults()

        public init() {}
    }
}

/// The part of a link after an app's scheme: `/products/1`, with or without a query and a fragment.
public struct LinkPath: Hashable, Sendable {
    /// The path in ASCII, starting with a slash; other characters are percent-encoded.
    public let text: String

    /// - Throws: ``DeepLinkURLError`` naming the first rule that the path breaks.
    public init(parsing text: String) throws(DeepLinkURLError) {
        let text = text.trimmed
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count > 1 else { throw .noPath }
        guard !text.utf8.dropFirst().starts(with: "/".utf8) else { throw .twoSlashes }
        // Validate the path like the path of any other link.
        let whole = try DeepLinkURL(parsing: "https://path.invalid" + text)
        self.text = String(whole.text.dropFirst("https://path.invalid".utf8.count))
        let path = self.text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard !URLPath.hasDotSegment(Array(path)[...]) else { throw .dotSegment }
    }

    /// Returns the link with an app's scheme: `myapp` and `/products/1` become `myapp://products/1`.
    ///
    /// Nil if the first part of the path is no host that clients can read.
    public func url(scheme: String) -> DeepLinkURL? { try? DeepLinkURL(parsing: "\(scheme):/\(text)") }
}

/// The path of a short link on its host: `summer25`, or `go/summer25`.
///
/// It has at most 128 characters in one to four parts of ASCII letters, digits, `-`, `_` and `.`, separated
/// by slashes. No part starts with a dot. Case matters, as in the links of other services.
public struct LinkSlug: Hashable, Sendable {
    public let text: String

    public static let maximumLength = 128
    package static let maximumPartCount = 4

    /// The first parts of the service's own paths, which must not be a slug's first part in any case of letters.
    package static let reservedFirstParts: Set<String> = [
        "admin", "api", "v1", "deferred-deeplink", "healthz", "readyz", "metrics", "campaign", "resolve",
        "openapi.json", "robots.txt", "favicon.ico", "apple-touch-icon.png", "apple-app-site-association",
        "well-known", "assets", "static",
    ]

    /// The last parts of the service's URLs below a slug, which must not be a slug's last part in any case of letters.
    package static let reservedLastParts: Set<String> = ["qr.svg", "qr.png"]

    /// Creates a slug from a stored text, which was valid when it was stored.
    public init(stored text: String) { self.text = text }

    /// - Throws: ``LinkSlugError``, whose message says what to do.
    public init(parsing text: String) throws(LinkSlugError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength, parts.count <= Self.maximumPartCount
        else { throw .wrongLength }
        for part in parts {
            guard !part.isEmpty, part.first != UInt8(ascii: "."),
                part.allSatisfy({ $0.isASCIIWordByte || $0 == UInt8(ascii: ".") })
            else { throw .malformed }
        }
        let first = String(decoding: parts[0].map(\.asciiLowercased), as: UTF8.self)
        let last = String(decoding: parts[parts.count - 1].map(\.asciiLowercased), as: UTF8.self)
        guard !Self.reservedFirstParts.contains(first), !Self.reservedLastParts.contains(last)
        else { throw .reserved }
        self.text = text
    }

    /// Compares bytes, as a database does: for Swift, the sign of the kelvin in a click's text equals the letter K.
    public static func == (left: LinkSlug, right: LinkSlug) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }
}

/// The reason why a text is no slug.
public enum LinkSlugError: Error, Equatable, CaseIterable, Sendable {
    case wrongLength
    case malformed
    case reserved

    /// What is wrong and what to do, in plain words.
    public var message: String {
        switch self {
        case .wrongLength:
            "A slug has 1 to \(LinkSlug.maximumLength) characters in at most four parts; shorten it."
        case .malformed:
            """
            A slug is made of letters a–z and A–Z, digits, -, _ and ., with single slashes between its parts, none of \
            which starts with a dot; write summer-25 or go/summer-25.
            """
        case .reserved: "The service itself answers under this path; choose another slug."
        }
    }
}

extension LinkSlug {
    /// Characters that people do not confuse when they read or hear them, and that form no words.
    ///
    /// The alphabet lacks vowels and the digits that resemble them, and `b`, `8`, `l`, `1`, `n`, `o`, `0`, `q`, `s`,
    /// `5`, `u`, `v`, `z` and `2`.
    private static let alphabet = Array("cdfghjkmprtwxy679".utf8)
    private static let generatedLength = 11

    /// Texts that look like bad words without their vowels.
    private static let badWords = ["fck", "fgt", "ftw", "kkk", "wtf", "ct", "dck", "prk", "hh", "fk", "dmn"]

    /// Creates a slug that cannot be guessed: eleven characters, 45 bits.
    public init(random: RandomSource) {
        while true {
            let text = Self.text(random)
            guard Self.badWords.contains(where: { text.contains($0) }) else {
                self.init(stored: text)
                return
            }
        }
    }

    private static func text(_ random: RandomSource) -> String {
        // Skip bytes beyond a multiple of the alphabet's length, because they would favour the first characters.
        let end = 256 / alphabet.count * alphabet.count
        var text: [UInt8] = []
        while text.count < generatedLength {
            let fitting = random.exactly(16).lazy.map { Int($0) }.filter { $0 < end }
            text += fitting.prefix(generatedLength - text.count).map { alphabet[$0 % alphabet.count] }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
