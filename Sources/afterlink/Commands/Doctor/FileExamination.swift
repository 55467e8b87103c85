package import Attribution
internal import Glibc
internal import HTTPServer

/// Examines the modes of the files, and reads the times of their last changes.
struct FileExamination {
    private let database: String
    /// The database file and its log; empty for a database on a server.
    private let databaseFiles: [String]
    private let keys: [String]
    /// The file with the password of a database on a server, if the settings name one.
    private let passwordFiles: [String]
    /// Whether a group may read key files, which may be mounted on several servers.
    private let isShared: Bool

    init(_ configuration: Configuration) {
        database = configuration.databasePath
        databaseFiles = configuration.isOnServer ? [] : [database, database + "-wal", database + "-shm"]
        keys = [configuration.serverKeyPath, configuration.addressKeyPath]
        let passwordFile = configuration.isOnServer ? configuration.databasePasswordFile : nil
        passwordFiles = passwordFile.map { [$0] } ?? []
        isShared = configuration.isOnServer
    }

    func diagnoses() -> [Diagnosis] {
        func isUnfit(_ path: String) -> Bool {
            !(isShared && TextFile.status(of: path).map(FileModes.isFitForSecrets) ?? true)
        }
        var diagnoses = (databaseFiles + keys.filter(isUnfit)).compactMap { open($0, 0o077, "600", .problem) }
        diagnoses += passwordFiles.filter(isUnfit).compactMap { open($0, 0o077, "600", .warning) }
        let folder = TextFile.directory(of: database)
        diagnoses += [open(folder, 0o077, "700", .warning)].compactMap(\.self)
        // In folders other than the database's, other users may see the names of secret files, but must not replace
        // the files.
        let others = Set((keys + passwordFiles).map { TextFile.directory(of: $0) }).subtracting([folder])
        diagnoses += others.sorted().compactMap { open($0, 0o022, "go-w", .warning) }
        guard diagnoses.isEmpty else { return diagnoses }
        return [
            .ok(
                "modes",
                databaseFiles.isEmpty
                    ? "only the owner, or the group of a mounted file, has access to key files"
                        + (passwordFiles.isEmpty ? "" : " and the file of the password")
                    : "only the owner has access to database, write-ahead log, key files and the database's folder"
            )
        ]
    }

    /// The time of the last write to the database or its log; nil if neither file exists.
    var newestChange: Timestamp? {
        databaseFiles.prefix(2).compactMap { TextFile.status(of: $0)?.st_mtim }.map { time in
            Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
        }.max()
    }

    /// Returns a diagnosis of a file or folder to which users other than its owner have one of these rights.
    ///
    /// A folder with the sticky bit counts as closed to writers: users cannot rename or delete the files of others.
    private func open(_ path: String, _ rights: mode_t, _ right: String, _ status: Diagnosis.Status)
        -> Diagnosis?
    {
        guard let mode = FileModes.mode(of: path), mode & rights != 0, rights != 0o022 || mode & S_ISVTX == 0
        else { return nil }
        let access = rights == 0o022 ? "can change it" : "have access"
        return Diagnosis(
            status: status,
            name: "modes",
            text: "\(path) has mode \(String(mode, radix: 8)): users other than its owner \(access)",
            advice: "chmod \(right) \(ShellWord.quoted(operand: path))"
        )
    }
}

extension Diagnosis {
    /// Examines the files that replace tables and pages at the next start; nil if the settings name none.
    static func tables(_ configuration: Configuration) -> Diagnosis? {
        let paths = [
            configuration.deviceData, configuration.robots, configuration.relayRanges,
            configuration.landingPage,
        ].compactMap(\.self)
        guard !paths.isEmpty else { return nil }
        do {
            _ = try TableFiles.settings(of: configuration)
            return .ok("tables", "\(paths.joined(separator: ", ")) can be read")
        } catch { return .problem("tables", error) }
    }

    /// Examines a certificate and its key.
    package static func certificate(_ files: TLSFiles, at now: Timestamp) -> Diagnosis {
        do {
            let expiry = Timestamp(milliseconds: try files.makeTermination().certificate.notAfter * 1000)
            return certificate(files.certificatePath, expiresAt: expiry, at: now)
        } catch { return .problem("tls", error) }
    }

    /// Checks that a certificate is valid for three more weeks.
    package static func certificate(_ path: String, expiresAt: Timestamp, at now: Timestamp) -> Diagnosis {
        let day: Int64 = 86_400_000
        let advice = "renew it and send the service SIGHUP, which reloads it"
        let left = expiresAt.milliseconds(since: now)
        guard left > 0 else {
            return .problem("tls", "\(path) expired at \(expiresAt.iso8601)").advising(advice)
        }
        let text = "\(path) expires at \(expiresAt.iso8601), in \(left / day) days"
        return left < 21 * day ? .warning("tls", text).advising(advice) : .ok("tls", text)
    }
}
