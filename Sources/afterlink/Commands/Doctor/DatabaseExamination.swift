package import Attribution
internal import Server
internal import Storage

/// The database's version, its warnings, the disk and the write-ahead log.
struct DatabaseExamination {
    let report: DatabaseReport
    let now: Timestamp

    func diagnoses() -> [Diagnosis] {
        var diagnoses = [schema]
        diagnoses += DiskExamination(
            freeBytes: report.freeBytes,
            databaseBytes: report.summary.byteCount,
            clicks: report.summary.clicks,
            clicksOfLastDay: report.firstDay.map { now.milliseconds(since: $0) >= 86_400_000 } == true
                ? report.clicksOfLastDay : nil,
            writeAheadLogBytes: report.writeAheadLogBytes
        ).diagnoses()
        for warning in report.directory.warnings {
            diagnoses.append(
                .warning("destinations", warning).advising("do it before strangers can reach the service")
            )
        }
        return diagnoses
    }

    private var schema: Diagnosis {
        let summary = report.summary
        let text = "\(report.path): schema \(summary.schemaVersion), \(summary.text)"
        guard !summary.pendingMigrations.isEmpty else { return .ok("database", text) }
        return .warning("database", "\(text); it lacks \(summary.pendingMigrations.joined(separator: ", "))")
            .advising("`afterlink migrate`, or the next start of this version, brings it up to date")
    }
}

/// The free space on the disk, and for how many days it suffices.
package struct DiskExamination {
    private let freeBytes: Int64?
    private let databaseBytes: Int64
    private let clicks: Int64
    private let clicksOfLastDay: Int64?
    private let writeAheadLogBytes: Int64

    private static let gigabyte: Int64 = 1_000_000_000

    /// - Parameters:
    ///   - freeBytes: what the disk still takes; nil where it does not say.
    ///   - databaseBytes: of the database file.
    ///   - clicks: that the database holds.
    ///   - clicksOfLastDay: nil where there has not been a whole day yet.
    ///   - writeAheadLogBytes: of the log beside the database.
    package init(
        freeBytes: Int64?,
        databaseBytes: Int64,
        clicks: Int64,
        clicksOfLastDay: Int64?,
        writeAheadLogBytes: Int64
    ) {
        self.freeBytes = freeBytes
        self.databaseBytes = databaseBytes
        self.clicks = clicks
        self.clicksOfLastDay = clicksOfLastDay
        self.writeAheadLogBytes = writeAheadLogBytes
    }

    package func diagnoses() -> [Diagnosis] { [disk, log] }

    private var disk: Diagnosis {
        guard let freeBytes else {
            return .warning("disk", "it does not say how much room it has").advising("look with `df`")
        }
        let advice = "make room: without it, clicks get 503"
        guard let daysLeft else {
            let text =
                "\(Self.megabytes(freeBytes)) free; there are not enough clicks yet to estimate for how long"
            return freeBytes < Self.gigabyte / 10
                ? .problem("disk", text).advising(advice)
                : freeBytes < Self.gigabyte ? .warning("disk", text).advising(advice) : .ok("disk", text)
        }
        let text =
            "\(Self.megabytes(freeBytes)) free, enough for \(daysLeft) days of as many clicks as in the last 24"
            + " hours, even if retention deleted none"
        if freeBytes < Self.gigabyte / 10 || daysLeft < 1 { return .problem("disk", text).advising(advice) }
        return freeBytes < Self.gigabyte || daysLeft < 14
            ? .warning("disk", text).advising(advice) : .ok("disk", text)
    }

    private var daysLeft: Int64? {
        guard let freeBytes, let clicksOfLastDay, clicksOfLastDay > 0, clicks > 0 else { return nil }
        let bytesOfDay = max(Double(databaseBytes) / Double(clicks) * Double(clicksOfLastDay), 1)
        return Int64(min(Double(freeBytes) / bytesOfDay, 100_000))
    }

    private var log: Diagnosis {
        let text =
            "\(Self.megabytes(writeAheadLogBytes)) beside a database of \(Self.megabytes(databaseBytes))"
        // The log is cut down to 64 MiB whenever it restarts; a long reader prevents that.
        guard writeAheadLogBytes > 4 * 67_108_864 else { return .ok("wal", text) }
        return .warning("wal", "\(text): something keeps it from being folded in")
            .advising(
                "see what has the database open for long, a backup or a shell of `sqlite3` (`fuser` shows it)"
            )
    }

    private static func megabytes(_ bytes: Int64) -> String {
        "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
    }
}

extension Diagnosis {
    /// When this was written, and far from now: 2025-01-01 and 2100-01-01.
    private static let plausible = 1_735_689_600_000...4_102_444_800_000 as ClosedRange<Int64>
    /// How far apart two clocks may be.
    private static let clockTolerance: Int64 = 300_000

    /// Checks that the clock is plausible: windows and keys end by it.
    ///
    /// Times are UTC throughout; the machine's time zone is never asked for.
    package static func clock(_ now: Timestamp, newestClickAt: Timestamp?, newestFileAt: Timestamp?)
        -> Diagnosis
    {
        let advice = "set the clock by NTP (`timedatectl` shows it): windows and keys end by it"
        guard plausible.contains(now.milliseconds) else {
            return .problem("clock", "it is \(now.iso8601), which cannot be").advising(advice)
        }
        for (what, moment) in [
            ("the newest click was recorded at", newestClickAt),
            ("the database was last written at", newestFileAt),
        ] {
            guard let moment, moment.milliseconds(since: now) > clockTolerance else { continue }
            return .problem("clock", "it is \(now.iso8601), but \(what) \(moment.iso8601)").advising(advice)
        }
        return .ok(
            "clock",
            "\(now.iso8601); nothing in the database is later (its time zone does not matter)"
        )
    }
}
