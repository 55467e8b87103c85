package import Attribution
internal import Storage

/// The age of API keys, and their use.
package enum KeyExamination {
    private static let day: Int64 = 86_400_000

    package static func diagnoses(_ keys: [APIKey], at now: Timestamp) -> [Diagnosis] {
        let remaining = keys.filter { $0.revokedAt == nil }
        let valid = remaining.filter { $0.isValid(at: now) }
        var diagnoses = remaining.flatMap { warnings($0, at: now) }
        let admins = valid.filter { $0.kind == .admin }
        if admins.count > 1 {
            diagnoses.append(
                .warning(
                    "keys",
                    "\(admins.count) admin keys are valid: \(admins.map(\.id.text).joined(separator: ", "))"
                )
                .advising("revoke those that are not needed with `afterlink keys revoke`")
            )
        }
        if !valid.contains(where: { $0.kind == .app }) {
            diagnoses.append(
                .problem("keys", "no app key is valid: no app can ask for its link")
                    .advising("`afterlink keys create --kind app` makes one")
            )
        }
        guard diagnoses.isEmpty else { return diagnoses }
        return [.ok("keys", "\(valid.count) are valid, none older than a year, unused or about to expire")]
    }

    private static func warnings(_ key: APIKey, at now: Timestamp) -> [Diagnosis] {
        let name = "\(key.id.text) (\(key.kind.rawValue)\(key.label.isEmpty ? "" : ", \(key.label)"))"
        let age = now.milliseconds(since: key.createdAt)
        var warnings: [Diagnosis] = []
        if let expiresAt = key.expiresAt {
            let left = expiresAt.milliseconds(since: now)
            let advice = "make a new one with `afterlink keys create`, bring it out, and revoke this one"
            if !key.isValid(at: now) {
                return [.warning("keys", "\(name) expired at \(expiresAt.iso8601)").advising(advice)]
            }
            if left < 14 * day {
                warnings.append(.warning("keys", "\(name) expires at \(expiresAt.iso8601)").advising(advice))
            }
        }
        if age > 365 * day {
            warnings.append(
                .warning(
                    "keys",
                    "\(name) is \(age / day) days old, last used \(key.lastUsedAt?.iso8601 ?? "never")"
                )
                .advising("rotate it: make a new one, bring it out, and revoke this one")
            )
        } else if key.lastUsedAt == nil, age > 30 * day {
            warnings.append(
                .warning("keys", "\(name) was never used in \(age / day) days")
                    .advising("revoke it with `afterlink keys revoke \(key.id.text)` if it is not needed")
            )
        }
        return warnings
    }
}

/// Checks that the server keys exist and are the database's own, and the address keys.
enum ServerKeyExamination {
    static func diagnoses(
        _ configuration: Configuration,
        _ summary: DatabaseSummary,
        at now: Timestamp
    ) -> [Diagnosis] {
        [server(configuration, summary), addresses(configuration, at: now)].compactMap(\.self)
    }

    private static func server(_ configuration: Configuration, _ summary: DatabaseSummary) -> Diagnosis {
        let path = configuration.serverKeyPath
        do {
            let keys = try KeyCopy(server: path)
            guard summary.fits(keys.keys) == false else {
                let others = keys.server.entries.count - 1
                return .ok(
                    "server_key",
                    "\(path) is the database's own"
                        + (others == 0
                            ? "" : "; it holds \(DatabaseSummary.count(Int64(others), "other key")) besides")
                )
            }
            return .problem(
                "server_key",
                "\(path) is not the key that the database was made with: no click could be found"
            )
            .advising("put its own back from the backup, or name it with --server-key-file")
        } catch {
            return .problem("server_key", error)
        }
    }

    private static func addresses(_ configuration: Configuration, at now: Timestamp) -> Diagnosis? {
        let path = configuration.addressKeyPath
        // Made by the next start.
        guard TextFile.exists(path) else { return nil }
        do {
            let first = try AddressKeyFile(path: path).open(at: now).firstDay
            return .ok(
                "address_keys",
                "\(path): addresses from before \(AddressKeyFile.date(of: first)) cannot be found out any more"
            )
        } catch {
            return .problem("address_keys", error)
        }
    }
}
