internal import Attribution
internal import Storage

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
                "\(path) is not the key that the database was made with: no click could be found",
                "put its own back from the backup, or name it with --server-key-file"
            )
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
