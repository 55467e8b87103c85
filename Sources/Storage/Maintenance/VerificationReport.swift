/// The steps of a verification of a database, and their findings.
public struct VerificationReport: Equatable, Sendable {
    public var checks: [Check] = []

    public init() {}

    public var isWhole: Bool { checks.allSatisfy(\.findings.isEmpty) }

    public struct Check: Equatable, Sendable {
        /// The name that scripts compare.
        public let name: String
        /// The statement that was verified, which is true if nothing was found; or why the step compared nothing.
        public var scope: String
        /// What is wrong; empty if the statement is true.
        public private(set) var findings: [Finding] = []

        public init(_ name: String, _ scope: String) { (self.name, self.scope) = (name, scope) }

        /// Adds a finding, and what to do about it.
        public mutating func add(_ text: String, _ advice: String = Self.restore) {
            findings.append(Finding(text: text, advice: advice))
        }

        /// Keeps the first 20 findings and counts the others.
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
