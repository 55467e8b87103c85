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
        let bytes = userAgent.utf8.map(\.asciiLowercased)
        return bytes.indices.contains { start in
            tokensByFirstByte[Int(bytes[start])].contains { bytes[start...].starts(with: $0) }
        }
    }

    /// A user agent is searched once for all tokens, a byte at a time.
    private static let tokensByFirstByte: [[[UInt8]]] = {
        var tokens: [[[UInt8]]] = Array(repeating: [], count: 256)
        for robot in known {
            let token = Array(robot.token.utf8)
            if let first = token.first { tokens[Int(first)].append(token) }
        }
        return tokens
    }()

    public static let known: [Robot] = RobotVendors.all.flatMap { entry in
        entry.tokens.map { Robot(token: $0, vendor: entry.vendor) }
    }
}
