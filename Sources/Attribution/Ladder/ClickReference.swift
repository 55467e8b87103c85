/// What a launch brings that names the click which led to it: a signed token, or the click's bare identifier.
public enum ClickReference: Hashable, Sendable {
    /// A text that claims to be a token; nothing of it is verified, not even its form.
    case token(String)
    case click(ClickID)

    /// The name under which links, referrers and pasteboard texts carry one.
    public static let linkName = "al"

    /// What carries one in links, referrers and pasteboard texts.
    ///
    /// `token` is not among them: it is a name that other people's links have, with secrets behind it.
    private static let itemNames = [linkName, "click_id"]

    /// No token and no identifier comes near it; what is longer is cut, and is no token then either.
    public static let maximumLength = 128

    /// Nil for an empty text alone: what is neither a token nor an identifier is refused where tokens are verified, so
    /// that somebody is told.
    public init?(_ text: String) {
        let text = text.trimmed
        guard !text.isEmpty else { return nil }
        if let click = ClickID(text) {
            self = .click(click)
        } else {
            self = .token(String(decoding: text.utf8.prefix(Self.maximumLength), as: UTF8.self))
        }
    }

    /// Whether it has the form of a token or is an identifier: anything else is no more than worth a message.
    public var isWellFormed: Bool {
        switch self {
        case .token(let text): ClickToken.hasForm(of: text)
        case .click: true
        }
    }

    /// The first reference among the parameters of a link or a referrer.
    ///
    /// Apps put more into a referrer behind a wrong separator, and people write on behind a link: a reference ends with
    /// the first character that none has.
    init?(items: [QueryItem]) {
        let references = Self.itemNames.lazy.flatMap { name in
            items.lazy.filter { $0.name == name }.compactMap { item in
                let value = item.value.trimmed.utf8.prefix { Base64URL.value(of: $0) != nil }
                return ClickReference(String(decoding: value, as: UTF8.self))
            }
        }
        guard let first = references.first(where: \.isWellFormed) ?? references.first else { return nil }
        self = first
    }
}
