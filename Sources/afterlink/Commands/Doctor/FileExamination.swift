internal import Attribution
internal import Glibc

/// The modes of the files, and the times of their last changes.
struct FileExamination {
    private let database: String
    private let keys: [String]

    init(_ configuration: Configuration) {
        database = configuration.databasePath
        keys = [configuration.serverKeyPath, configuration.addressKeyPath]
    }

    func diagnoses() -> [Diagnosis] {
        let files = [database, database + "-wal", database + "-shm"] + keys
        var diagnoses = files.compactMap { path in
            mode(of: path).flatMap { $0 & 0o077 == 0 ? nil : open(path, $0, "600", .problem) }
        }
        let folder = self.folder
        if let mode = mode(of: folder), mode & 0o077 != 0 {
            diagnoses.append(open(folder, mode, "700", .warning))
        }
        guard diagnoses.isEmpty else { return diagnoses }
        return [
            .ok("modes", "database, write-ahead log, server key and their folder are their owner's alone")
        ]
    }

    /// When the database or its log was last written.
    var newestChange: Timestamp? {
        [database, database + "-wal"].compactMap { path in
            var status = stat()
            // The value and the path live for the call.
            guard unsafe stat(path, &status) == 0 else { return nil }
            return Timestamp(
                milliseconds: Int64(status.st_mtim.tv_sec) * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
            )
        }.max()
    }

    private var folder: String {
        guard let slash = database.lastIndex(of: "/") else { return "." }
        return slash == database.startIndex ? "/" : String(database[..<slash])
    }

    private func open(_ path: String, _ mode: UInt32, _ right: String, _ status: Diagnosis.Status)
        -> Diagnosis
    {
        Diagnosis(
            status: status,
            name: "modes",
            text:
                "\(path) has mode \(String(mode & 0o7777, radix: 8)), so that others than its owner reach it",
            advice: "chmod \(right) \(ShellWord.quoted(operand: path))"
        )
    }

    private func mode(of path: String) -> UInt32? {
        var status = stat()
        // The value and the path live for the call.
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }
}
