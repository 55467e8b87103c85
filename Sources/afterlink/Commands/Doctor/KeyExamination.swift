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
                    .advising("`afterlink keys revoke` revokes the keys that are not needed")
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
            .ok(
                "keys",
                "\(valid.count) are valid; none is older than a year, unused for 30 days since its creation, or"
                    + " within 14 days of its expiry"
            )
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
            let use = key.lastUsedAt.map { "was last used at \($0.iso8601)" } ?? "was never used"
            warnings.append(
                .warning("keys", "\(name) is \(age / day) days old and \(use)").advising(
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

/// Examines the server keys (they must belong to the database), the address keys, and the keys of other servers.
enum ServerKeyExamination {
    static func diagnoses(
        _ configuration: Configuration,
        _ summary: DatabaseSummary,
        at now: Timestamp
    ) -> [Diagnosis] {
        do {
            let keyring = try CommandDatabase.explaining(configuration) { try $0.keyring() }
            let source = try configuration.keySource()
            let list = try source.serverKeys()
            return [server(list, source, summary)] + addresses(configuration, source, at: now)
                + (try keyring.map { try servers($0.servers(), list, source, at: now) } ?? [])
        } catch {
            return [.problem("server_key", error)]
                + addresses(configuration, KeyFiles(configuration), at: now)
        }
    }

    private static func server(
        _ list: ServerKeyList,
        _ source: any KeySource,
        _ summary: DatabaseSummary
    ) -> Diagnosis {
        guard let fits = summary.fits(list.all) else {
            return .ok(
                "server_key",
                "\(source.serverPlace) can be read; the database records no server key yet"
            )
        }
        guard !fits else {
            let missing = summary.missingKeys(of: list.all)
            guard missing == 0 else {
                let keys = DatabaseSummary.count(Int64(missing), "former key")
                return .problem(
                    "server_key",
                    "\(source.serverPlace) lacks \(keys): clicks from before the rotation are not found"
                )
                .advising(source.formerKeyAdvice)
            }
            let others = Int64(list.entries.count - 1)
            let rest = others == 0 ? "" : ", and \(DatabaseSummary.count(others, "other key"))"
            return .ok(
                "server_key",
                "\(source.serverPlace) contains the server key that the database uses\(rest)"
            )
        }
        guard !source.isShared else { return .problem("server_key", source.foreign) }
        return .problem(
            "server_key",
            "\(source.serverPlace) is not the key of the database: no click could be found"
        )
        .advising("restore the database's key from the backup, or name it with --server-key-file")
    }

    private static func addresses(
        _ configuration: Configuration,
        _ source: any KeySource,
        at now: Timestamp
    ) -> [Diagnosis] {
        let path = configuration.addressKeyPath
        // If no other server uses the keys, the next start of the service creates a missing file.
        guard source.isShared || TextFile.exists(path) else { return [] }
        do {
            let date = AddressKeyFile.date(of: try source.addressKeys(at: now).firstDay)
            let place = source is DatabaseKeyring ? source.serverPlace : path
            return [.ok("address_keys", "\(place): addresses from before \(date) can no longer be recovered")]
        } catch { return [.problem("address_keys", error)] }
    }

    /// Names the running servers with other keys: they and the servers with this machine's keys miss each
    /// other's clicks.
    static func servers(
        _ servers: [KeyHolder],
        _ list: ServerKeyList,
        _ source: any KeySource,
        at now: Timestamp
    ) throws -> [Diagnosis] {
        let addresses = try source.addressKeys(at: now)
        let own = list.all.map(\.checkValue.index)
        // Every server reads a new key, and the address keys that a rotation renews with it, within a second.
        let newest = list.entries.first { entry in
            entry.madeAt.map { now.milliseconds(since: $0) >= ServerKeyList.settlingMilliseconds } ?? true
        }
        let isSettling = newest?.bytes != list.entries.first?.bytes
        let problems = servers.compactMap { server -> Diagnosis? in
            guard let held = server.keys else { return nil }
            let difference: String
            if let current = held.server.first, !own.contains(current) {
                difference = "stores clicks under a server key that \(source.serverPlace) lacks"
            } else if let check = newest?.check, !held.server.contains(check.index) {
                difference = "lacks a server key of \(source.serverPlace)"
            } else if !isSettling, !held.fits(addresses) {
                difference = "has other address keys than \(source.serverPlace)"
            } else {
                return nil
            }
            return .problem("server_keys", "server \(server.number) \(difference): launches miss clicks")
                .advising(
                    "stop it, give it the key files or the --secret-file of the others, and start it again"
                )
        }
        guard problems.isEmpty else { return problems }
        let count = DatabaseSummary.count(Int64(servers.count(where: { $0.keys != nil })), "running server")
        return [.ok("server_keys", "\(count) with the same keys")]
    }
}
