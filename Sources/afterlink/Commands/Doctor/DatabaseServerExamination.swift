package import Attribution
package import Storage

/// Examines the database server, and the servers that share the database.
package struct DatabaseServerExamination {
    let server: DatabaseServerReport
    let now: Timestamp
    /// The version of this program.
    let version: String

    package init(_ server: DatabaseServerReport, version: String, at now: Timestamp) {
        (self.server, self.version, self.now) = (server, version, now)
    }

    package func diagnoses() -> [Diagnosis] {
        [kind, disk, standbys, clock, connections, servers, leases, partitions, counts] + leftovers
    }

    private var kind: Diagnosis {
        let way = server.isEncrypted ? "TLS" : server.isLocal ? "within this machine" : "no encryption"
        // The examination ends earlier if the pooler has another mode.
        let pooler = server.isPooled ? ", through a pooler in session mode" : ""
        let text = "PostgreSQL \(server.version), \(way)\(pooler)"
        guard !server.isStandby else {
            return .problem("database_server", "\(text); it is a standby, which takes no writes")
                .advising("name the primary server in --database, or all servers of the cluster")
        }
        guard server.encoding == "UTF8" else {
            return .problem(
                "database_server",
                "\(text); its encoding is \(server.encoding) instead of UTF8, which may refuse some texts"
            ).advising("create a database with the encoding UTF8; move the rows with pg_dump and pg_restore")
        }
        return .ok("database_server", text)
    }

    private var disk: Diagnosis {
        guard server.syncsDisk, server.restoresTornPages else {
            let setting = server.syncsDisk ? "full_page_writes" : "fsync"
            return .problem("database_disk", "\(setting) is off: a power cut can destroy the database")
                .advising("switch it on in the database server's configuration")
        }
        guard server.cleansUp else {
            return .warning("database_disk", "autovacuum is off: tables grow, and plans become outdated")
                .advising("switch it on in the database server's configuration")
        }
        return .ok("database_disk", "fsync, full_page_writes and autovacuum are on")
    }

    private var standbys: Diagnosis {
        let count = DatabaseSummary.count(server.standbyCount, "standby")
        guard server.synchronousStandbys.isEmpty else {
            let text = "commits wait for \(server.synchronousStandbys); \(count) connected"
            guard server.standbyCount > 0 else {
                return .problem("standbys", "\(text): no write is acknowledged")
                    .advising("start the standby, or change synchronous_standby_names")
            }
            return .ok("standbys", "\(text): a failover to it loses no acknowledged click")
        }
        guard server.standbyCount > 0 else {
            return .ok("standbys", "none: acknowledged clicks last as long as the database server's disk")
        }
        return .warning(
            "standbys",
            "\(count), and no commit waits for any: a failover loses the last acknowledged clicks and matches"
        ).advising("set synchronous_standby_names if that must not happen")
    }

    private var clock: Diagnosis {
        let lead = server.clockLead
        let seconds = "\(abs(lead) / 1000).\(abs(lead) / 100 % 10) s"
        guard abs(lead) > 1000 else { return .ok("database_clock", "it agrees with this machine's clock") }
        return .problem(
            "database_clock",
            "it is \(seconds) \(lead > 0 ? "behind" : "ahead of") this machine's; no server on this machine is ready"
        ).advising("set both clocks by NTP (`timedatectl` shows it)")
    }

    private var connections: Diagnosis {
        let (used, maximum) = (server.connectionCount, server.maximumConnections)
        let text = "\(used) of \(maximum) in use"
        guard used * 10 > maximum * 8 else { return .ok("database_connections", text) }
        return .warning("database_connections", "\(text): another server may get none, and is not ready then")
            .advising("raise max_connections to nine, plus the event loops, for each server")
    }

    private var servers: Diagnosis {
        let versions = server.runningVersions
        let text = "\(DatabaseSummary.count(Int64(versions.count), "server")) running"
        let others = Set(versions).subtracting([version]).sorted()
        guard !others.isEmpty else { return .ok("servers", text) }
        return .warning("servers", "\(text), some with \(others.joined(separator: ", "))")
            .advising("update all servers to one version; this program is \(version)")
    }

    private var leases: Diagnosis {
        let holders = Dictionary(grouping: server.leases) { $0.server }
        let texts = holders.sorted { ($0.key ?? .max) < ($1.key ?? .max) }.map { number, leases in
            // Each endpoint of postbacks has a lease of its own.
            let names = leases.prefix(12).map(\.name).joined(separator: ", ")
            let more = leases.count > 12 ? " and \(leases.count - 12) more" : ""
            return "\(number.map { "server \($0)" } ?? "a server that has ended") does \(names)\(more)"
        }
        return .ok("leases", texts.isEmpty ? "no server does background work" : texts.joined(separator: "; "))
    }

    private var partitions: Diagnosis {
        let last = Timestamp(milliseconds: server.lastDay * 86_400_000)
        let text = "the last day with partitions is \(last.iso8601.prefix(10))"
        let missing = server.missingPartitions
        guard missing.isEmpty else {
            let names = missing.prefix(4).joined(separator: ", ")
            let more = missing.count > 4 ? " and \(missing.count - 4) more" : ""
            return .problem("partitions", "missing: \(names)\(more); requests that need them get 503")
                .advising("a running server makes them again, without rows; restore the rows from a backup")
        }
        let isAhead = server.lastDay > now.milliseconds / 86_400_000
        guard !isAhead, !server.runningVersions.isEmpty else { return .ok("partitions", text) }
        return .warning("partitions", "\(text): the servers' job has made none since then")
            .advising("see their logs for the reason")
    }

    private var counts: Diagnosis {
        let batches = server.waitingCounts == 1 ? "1 batch" : "\(server.waitingCounts) batches"
        let text = "\(batches) not in the statistics yet"
        guard server.waitingCounts > 1000, !server.runningVersions.isEmpty else { return .ok("counts", text) }
        return .warning("counts", text).advising("see the servers' logs for the reason")
    }

    /// Findings about prepared transactions.
    private var leftovers: [Diagnosis] {
        guard server.preparedTransactions > 0 else { return [] }
        let count = DatabaseSummary.count(server.preparedTransactions, "prepared transaction")
        return [
            .warning("transactions", "\(count) of another program keep locks and old rows")
                .advising("finish them; `SELECT * FROM pg_prepared_xacts` lists them")
        ]
    }
}
