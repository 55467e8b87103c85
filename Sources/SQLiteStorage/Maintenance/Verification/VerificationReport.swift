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
    /// What was changed, a line for each counter; nil where no repair was asked for or it was refused.
    public internal(set) var repairs: [String]?
    /// Counters that were changed; ``repairs`` names the first of them.
    public internal(set) var repairCount = 0

    public var isWhole: Bool { checks.allSatisfy(\.findings.isEmpty) }
}

/// What advice most findings share.
enum Advice {
    static let restore = "restore the newest backup that `afterlink verify` finds whole"
    static let repair = "`afterlink verify --repair-counters`, while the service is stopped, makes it right"
    static let undecidable = "the clicks that would tell are deleted already, so that it stays as it is"
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
