package import Attribution

/// The age of API keys, and their use.
package struct KeyExamination {
    private let keys: [APIKey]
    private let now: Timestamp

    private static let day: Int64 = 86_400_000

    package init(keys: [APIKey], now: Timestamp) {
        self.keys = keys
        self.now = now
    }

    package func diagnoses() -> [Diagnosis] {
        let remaining = keys.filter { $0.revokedAt == nil }
        let valid = remaining.filter { $0.isValid(at: now) }
        var diagnoses = remaining.flatMap(warnings)
        let admins = valid.filter { $0.kind == .admin }
        if admins.count > 1 {
            diagnoses.append(
                .warning(
                    "keys",
                    "\(admins.count) admin keys are valid: \(admins.map(\.id.text).joined(separator: ", "))",
                    "revoke those that are not needed with `afterlink keys revoke`"
                )
            )
        }
        if !valid.contains(where: { $0.kind == .app }) {
            diagnoses.append(
                .problem(
                    "keys",
                    "no app key is valid: no app can ask for its link",
                    "`afterlink keys create --kind app` makes one"
                )
            )
        }
        guard diagnoses.isEmpty else { return diagnoses }
        return [.ok("keys", "\(valid.count) are valid, none older than a year, unused or about to expire")]
    }

    private func warnings(_ key: APIKey) -> [Diagnosis] {
        let name = "\(key.id.text) (\(key.kind.rawValue)\(key.label.isEmpty ? "" : ", \(key.label)"))"
        let age = now.milliseconds(since: key.createdAt)
        var warnings: [Diagnosis] = []
        if let expiresAt = key.expiresAt {
            let left = expiresAt.milliseconds(since: now)
            let advice = "make a new one with `afterlink keys create`, bring it out, and revoke this one"
            if !key.isValid(at: now) {
                return [.warning("keys", "\(name) expired at \(expiresAt.iso8601)", advice)]
            }
            if left < 14 * Self.day {
                warnings.append(.warning("keys", "\(name) expires at \(expiresAt.iso8601)", advice))
            }
        }
        if age > 365 * Self.day {
            warnings.append(
                .warning(
                    "keys",
                    "\(name) is \(age / Self.day) days old, last used \(key.lastUsedAt?.iso8601 ?? "never")",
                    "rotate it: make a new one, bring it out, and revoke this one"
                )
            )
        } else if key.lastUsedAt == nil, age > 30 * Self.day {
            warnings.append(
                .warning(
                    "keys",
                    "\(name) was never used in \(age / Self.day) days",
                    "revoke it with `afterlink keys revoke \(key.id.text)` if it is not needed"
                )
            )
        }
        return warnings
    }
}
