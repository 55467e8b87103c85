package import Attribution
internal import Storage

/// Examines the age and use of API keys.
package enum KeyExamination {
    private static let day: Int64 = 86_400_000

    package static func diagnoses(_ keys: [APIKey], at now: Timestamp) -> [Diagnosis] {
        let remaining = keys.filter { $0.revokedAt == nil }
        let valid = remaining.filter { $0.isValid(at: now) }
        var diagnoses = remaining.flatMap { warnings($0, at: now) }
        let admins = valid.filter { $0.kind == .admin }
        if admins.count > 1 {
            let ids = admins.map(\.id.text).joined(separator: ", ")
            diagnoses.append(
                .warning("keys", "\(admins.count) admin keys are valid: \(ids)")
                    .advising("revoke those that are not needed with `afterlink keys revoke`")
            )
        }
        if !valid.contains(where: { $0.kind == .app }) {
            diagnoses.append(
                .problem("keys", "no app key is valid: every check of a mobile app gets 401")
                    .advising("`afterlink keys create --kind app` creates one")
            )
        }
        guard diagnoses.isEmpty else { return diagnoses }
        return [
            .ok("keys", "\(valid.count) are valid, and none is older than a year, unused or about to expire")
        ]
    }

    private static func warnings(_ key: APIKey, at now: Timestamp) -> [Diagnosis] {
        let name = "\(key.id.text) (\(key.kind.rawValue)\(key.label.isEmpty ? "" : ", \(key.label)"))"
        let age = now.milliseconds(since: key.createdAt)
        var warnings: [Diagnosis] = []
        if let expiresAt = key.expiresAt {
            let left = expiresAt.milliseconds(since: now)
            let advice = "create a new one with `afterlink keys create`, distribute it, and revoke this one"
            if !key.isValid(at: now) {
                return [.warning("keys", "\(name) expired at \(expiresAt.iso8601)").advising(advice)]
            }
            if left < 14 * day {
                warnings.append(.warning("keys", "\(name) expires at \(expiresAt.iso8601)").advising(advice))
            }
        }
        if age > 365 * day {
            let lastUse = key.lastUsedAt?.iso8601 ?? "never"
            warnings.append(
                .warning("keys", "\(name) is \(age / day) days old, last used \(lastUse)").advising(
                    "rotate it: create a new one, distribute it, and revoke this one"
                )
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

/// Examines the server keys, which must belong to the database, and the address keys.
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
                let others = Int64(keys.server.entries.count - 1)
                let rest = others == 0 ? "" : "; it has \(DatabaseSummary.count(others, "other key")), too"
                return .ok("server_key", "\(path) is the database's own\(rest)")
            }
            return .problem("server_key", "\(path) is not the key of the database: no click could be found")
                .advising("restore the database's key from the backup, or name it with --server-key-file")
        } catch {
            return .problem("server_key", error)
        }
    }

    private static func addresses(_ configuration: Configuration, at now: Timestamp) -> Diagnosis? {
        let path = configuration.addressKeyPath
        // The next start creates a missing file.
        guard TextFile.exists(path) else { return nil }
        do {
            let first = try AddressKeyFile(path: path).open(at: now).firstDay
            let date = AddressKeyFile.date(of: first)
            return .ok("address_keys", "\(path): addresses from before \(date) can no longer be recovered")
        } catch {
            return .problem("address_keys", error)
        }
    }
}
