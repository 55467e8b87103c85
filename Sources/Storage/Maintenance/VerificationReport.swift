/// What a verification looked at, and what it found.
public struct VerificationReport: Equatable, Sendable {
    public var checks: [Check] = []

    public init() {}

    public var isWhole: Bool { checks.allSatisfy(\.findings.isEmpty) }

    public struct Check: Equatable, Sendable {
        /// A word for scripts.
        public let name: String
        /// What was compared, how far, and that it is so if nothing was found.
        public var scope: String
        /// Empty when all is well.
        public private(set) var findings: [Finding] = []

        public init(_ name: String, _ scope: String) {
            (self.name, self.scope) = (name, scope)
        }

        /// Adds what is wrong, and what to do about it: the advice that most findings share, unless given.
        public mutating func add(_ text: String, _ advice: String = Self.restore) {
            findings.append(Finding(text: text, advice: advice))
        }

        /// Leaves the first 20 findings and counts the rest.
        public mutating func shorten() {
            let more = findings.count - 20
            guard more > 0, let last = findings.last else { return }
            findings = findings.prefix(20) + [Finding(text: "and \(more) more", advice: last.advice)]
        }

        public static let restore = "restore the newest backup that `afterlink verify` finds whole"
    }

    public struct Finding: Equatable, Sendable {
        /// What is wrong, in one line.
        public let text: String
        /// What to do about it.
        public let advice: String
    }
}
