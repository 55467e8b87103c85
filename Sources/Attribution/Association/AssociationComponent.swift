/// Which URLs a rule of a domain file is about, and whether they open the app.
///
/// All parts that are given must fit; one that is not given fits everything.
public struct AssociationComponent: Equatable, Sendable {
    /// Patterns for the query as a whole, or for the values of some of its items.
    public enum Query: Equatable, Sendable {
        case pattern(String)
        case items([QueryItem])
    }

    /// The pattern for the path.
    public var path: String?
    public var query: Query?
    /// The pattern for what stands behind `#`.
    public var fragment: String?
    /// Whether URLs that fit stay in the browser.
    public var excludes: Bool
    /// For people alone.
    public var comment: String?
    public var settings: MatchingSettings
    /// Where it stands in the file, as `applinks.details[0].components[2]`; empty for one that stands in none.
    public var place: String

    public init(
        path: String? = nil,
        query: Query? = nil,
        fragment: String? = nil,
        excludes: Bool = false,
        comment: String? = nil,
        settings: MatchingSettings = MatchingSettings(),
        place: String = ""
    ) {
        self.path = path
        self.query = query
        self.fragment = fragment
        self.excludes = excludes
        self.comment = comment
        self.settings = settings
        self.place = place
    }
}

/// How patterns are compared; nil takes what is set further out, and in the end Apple's own: both true.
public struct MatchingSettings: Equatable, Sendable {
    public var caseSensitive: Bool?
    /// Whether patterns are compared with the URL as it is written, rather than with its escapes read.
    public var percentEncoded: Bool?

    public init(caseSensitive: Bool? = nil, percentEncoded: Bool? = nil) {
        self.caseSensitive = caseSensitive
        self.percentEncoded = percentEncoded
    }

    /// These, and where they say nothing, the others.
    package func over(_ outer: MatchingSettings) -> MatchingSettings {
        MatchingSettings(
            caseSensitive: caseSensitive ?? outer.caseSensitive,
            percentEncoded: percentEncoded ?? outer.percentEncoded
        )
    }

    package var ignoresCase: Bool { caseSensitive == false }
    package var readsEscapes: Bool { percentEncoded == false }
}
