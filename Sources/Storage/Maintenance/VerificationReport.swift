public import Attribution

/// The steps of a verification of a database, and their findings.
public struct VerificationReport: Equatable, Sendable {
    public var checks: [Check] = []

    public init() {}

    public var isWhole: Bool { checks.allSatisfy(\.findings.isEmpty) }

    public struct Check: Equatable, Sendable {
        /// The name that scripts compare.
        public let name: String
        /// The statement that was verified; it is true if nothing was found.
        ///
        /// If the step compared nothing, this is the reason.
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

/// The steps that compare a database with this program and its keys.
extension VerificationReport.Check {
    /// Compares the migrations of a database with the migrations that this program knows.
    public mutating func compare(_ applied: AppliedMigrations, with known: [Migration]) {
        for row in applied.unknown(to: known) {
            add("migration \(row.name) is not known to this program", "use a newer version of Afterlink")
        }
        for migration in applied.changed(of: known) {
            add(
                "migration \(migration.name) is not the one that was applied: its digest differs",
                "use the version of Afterlink that made the database, or restore a backup"
            )
        }
        for migration in applied.unrecorded(of: known) {
            add("the database has no record of migration \(migration.name), which its version includes")
        }
        for migration in applied.pending(of: known) {
            add(
                "migration \(migration.name) is not applied yet",
                "run `afterlink migrate`, or start the service"
            )
        }
        guard let last = applied.rows.last, last.number != applied.version else { return }
        add("the database has the version \(applied.version), but its last migration is \(last.number)")
    }

    /// Compares the server keys of this program with the keys that made the database's hashes.
    ///
    /// - Parameters:
    ///   - keys: the server keys; empty to compare none.
    ///   - stored: the first word of the check value of the last key; nil if none is recorded.
    ///   - former: the first words of the check values of the keys before the last one.
    public mutating func compare(_ keys: [ServerKey], stored: UInt64?, former: some Sequence<UInt64>) {
        guard !keys.isEmpty else {
            scope = "not compared: no server key was found"
            return
        }
        guard let stored else {
            scope = "not compared: the database has no record of the key that made its hashes"
            return
        }
        let words = keys.map(\.checkValue.index)
        guard words.contains(stored) else {
            add(
                "the server key is another one, not the key that made the database's hashes, so checks find no click",
                "put the database's own key back from the backup, or name it with --server-key-file"
            )
            return
        }
        let missing = former.count { !words.contains($0) }
        guard missing > 0 else { return }
        add(
            "former server keys are missing (\(missing)), so clicks from before the rotation cannot be found",
            "put them back from the backup, as further lines of the key file or with the table `keyring`"
        )
    }
}
