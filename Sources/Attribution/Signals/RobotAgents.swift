/// Known crawlers, link previews and test programs.
///
/// Plain HTTP clients (curl, a language's library) are not among them: a customer's own link server posts
/// clicks with one.
public enum RobotAgents {
    /// A mark in a user agent, and whose it is.
    public struct Robot: Hashable, Sendable {
        /// Lower case.
        public let token: String
        public let vendor: String
    }

    /// Whether the user agent carries one of the marks, in either case.
    public static func matches(_ userAgent: String) -> Bool {
        matches(Array(userAgent.utf8))
    }

    static func matches(_ userAgent: [UInt8]) -> Bool {
        tokens.firstMatch(in: userAgent.map(\.asciiLowercased)) != nil
    }

    private static let tokens = TokenSet(known.map(\.token))

    public static let known: [Robot] = RobotVendors.all.flatMap { entry in
        entry.tokens.map { Robot(token: $0, vendor: entry.vendor) }
    }
}
