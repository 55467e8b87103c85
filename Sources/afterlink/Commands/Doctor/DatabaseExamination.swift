package import Attribution
internal import Server
internal import Storage

/// Examines the database's version, its apps, the disk and the write-ahead log.
struct DatabaseExamination {
    let report: DatabaseReport
    /// Whether the database is a file on this machine.
    let isFile: Bool
    let now: Timestamp

    func diagnoses() -> [Diagnosis] {
        [schema] + (isFile ? space : [])
            + report.directory.warnings(at: now).map {
                .warning("destinations", $0).advising("do it before the service is public")
            }
    }

    private var space: [Diagnosis] {
        let hasWholeDay = report.firstDay.map { now.milliseconds(since: $0) >= 86_400_000 } == true
        let disk = Diagnosis.disk(
            freeBytes: report.freeBytes,
            databaseBytes: report.summary.byteCount,
            clicks: report.summary.clicks,
            clicksOfLastDay: hasWholeDay ? report.clicksOfLastDay : nil
        )
        let log = Diagnosis.log(bytes: report.writeAheadLogBytes, besideDatabaseOf: report.summary.byteCount)
        return [disk, log]
    }

    private var schema: Diagnosis {
        let summary = report.summary
        let text = "\(report.path): schema \(summary.schemaVersion), \(summary.text)"
        guard !summary.pendingMigrations.isEmpty else { return .ok("database", text) }
        return .olderVersion(text, lacking: summary.pendingMigrations)
    }
}

extension Diagnosis {
    static func olderVersion(_ text: String, lacking migrations: [String]) -> Diagnosis {
        .warning("database", "\(text); it lacks \(migrations.joined(separator: ", "))")
            .advising("`afterlink migrate`, or the next start of this version, brings it up to date")
    }

    private static let gigabyte: Int64 = 1_000_000_000

    /// Estimates for how many days the free space of the disk suffices.
    ///
    /// - Parameters:
    ///   - freeBytes: the free space; nil if the system does not report it.
    ///   - databaseBytes: the size of the database file.
    ///   - clicks: the number of stored clicks.
    ///   - clicksOfLastDay: the clicks of the last 24 hours; nil if the first click is less than a day old.
    /// - Returns: the finding `disk`.
    package static func disk(
        freeBytes: Int64?,
        databaseBytes: Int64,
        clicks: Int64,
        clicksOfLastDay: Int64?
    ) -> Diagnosis {
        guard let freeBytes else {
            return .warning("disk", "the system does not report its free space").advising(
                "run `df` to see it"
            )
        }
        var text = "\(megabytes(freeBytes)) free"
        var daysLeft: Int64?
        if let clicksOfLastDay, clicksOfLastDay > 0, clicks > 0 {
            let bytesOfDay = max(Double(databaseBytes) / Double(clicks) * Double(clicksOfLastDay), 1)
            let days = Int64(min(Double(freeBytes) / bytesOfDay, 100_000))
            daysLeft = days
            text +=
                ", enough for \(days) days with as many clicks as in the last 24 hours, even if none is deleted"
        } else {
            text += "; there are not enough clicks yet to estimate for how long"
        }
        let advice = "make room: on a full disk, clicks get 503"
        if freeBytes < gigabyte / 10 || daysLeft.map({ $0 < 1 }) == true {
            return .problem("disk", text).advising(advice)
        }
        let isScarce = freeBytes < gigabyte || daysLeft.map { $0 < 14 } == true
        return isScarce ? .warning("disk", text).advising(advice) : .ok("disk", text)
    }

    /// Warns of a write-ahead log larger than 256 MiB, four times its usual limit.
    package static func log(bytes: Int64, besideDatabaseOf databaseBytes: Int64) -> Diagnosis {
        let text = "\(megabytes(bytes)) beside a database of \(megabytes(databaseBytes))"
        // SQLite truncates the log to 64 MiB when it starts the log again; a long-running reader prevents that.
        guard bytes > 4 * 67_108_864 else { return .ok("wal", text) }
        return .warning("wal", "\(text): a long-running reader prevents its restart")
            .advising(
                "see which program has the database open for long, a backup or a shell of `sqlite3` (`fuser` shows it)"
            )
    }

    private static func megabytes(_ bytes: Int64) -> String {
        "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
    }

    /// The times that a clock may show: 2025-01-01 to 2100-01-01.
    private static let plausible = 1_735_689_600_000...4_102_444_800_000 as ClosedRange<Int64>

    /// Checks that the clock is plausible, because attribution windows and keys expire by it.
    ///
    /// All times are UTC; the machine's time zone does not matter.
    package static func clock(_ now: Timestamp, newestClickAt: Timestamp?, newestFileAt: Timestamp?)
        -> Diagnosis
    {
        let advice =
            "set the clock by NTP (`timedatectl` shows it): attribution windows and keys expire by it"
        guard plausible.contains(now.milliseconds) else {
            return .problem("clock", "it is \(now.iso8601), which is impossible").advising(advice)
        }
        for (what, moment) in [
            ("the newest click was recorded at", newestClickAt),
            ("the database was last written at", newestFileAt),
        ] {
            guard let moment, moment.isAhead(of: now) else { continue }
            return .problem("clock", "it is \(now.iso8601), but \(what) \(moment.iso8601)").advising(advice)
        }
        return .ok(
            "clock",
            "\(now.iso8601); nothing in the database is later (its time zone does not matter)"
        )
    }
}
