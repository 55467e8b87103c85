internal import Storage

/// What a verification looked at, and what it found.
public struct VerificationReport: Equatable, Sendable {
    public struct Check: Equatable, Sendable {
        /// A word for scripts.
        public let name: String
        /// What was compared, how far, and that it is so if nothing was found.
        public internal(set) var scope: String
        /// Empty when all is well.
        public internal(set) var findings: [Finding]

        /// Findings of one check that are told one by one; the others are counted.
        static let findingLimit = 20
    }

    public struct Finding: Equatable, Sendable {
        /// What is wrong, in one line.
        public let text: String
        /// What to do about it.
        public let advice: String
    }

    public internal(set) var checks: [Check] = []

    public var isWhole: Bool { checks.allSatisfy(\.findings.isEmpty) }
}

/// What advice most findings share.
enum Advice {
    static let restore = "restore the newest backup that `afterlink verify` finds whole"
}

extension VerificationReport.Check {
    init(_ name: String, _ scope: String) {
        self.init(name: name, scope: scope, findings: [])
    }

    mutating func add(_ text: String, _ advice: String) {
        findings.append(VerificationReport.Finding(text: text, advice: advice))
    }

    /// Leaves the first findings and counts the rest.
    mutating func shorten() {
        let more = findings.count - Self.findingLimit
        guard more > 0, let last = findings.last else { return }
        findings = findings.prefix(Self.findingLimit) + [.init(text: "and \(more) more", advice: last.advice)]
    }
}
