package import Attribution
internal import Crypto
internal import Glibc
internal import JSON

/// The files of an export; after a kill at any time, the next run continues exactly where the last one stopped.
///
/// A run writes each file as a draft. When the draft is on disk, the state names the file as pending. Then the file
/// gets its name, then its line in the manifest, and then the state's cursor moves to its last row. The next run first
/// completes a pending file.
package struct ExportFolder {
    private let directory: String
    private let statePath: String
    private let table: ExportTable
    private let format: ExportFileFormat
    private let app: AppID?
    /// Called after each step; a test ends the run there, as a kill does.
    package var afterStep: () throws -> Void = {}

    package init(
        directory: String,
        statePath: String,
        table: ExportTable,
        format: ExportFileFormat,
        app: AppID?
    ) {
        (self.directory, self.statePath, self.table) = (directory, statePath, table)
        (self.format, self.app) = (format, app)
    }

    private var subject: String { "\(table.rawValue).\(format.rawValue) of \(app?.text ?? "all apps")" }
    private var draftPath: String { "\(directory)/.\(table.rawValue).\(format.rawValue).draft" }

    /// Writes what is new, and returns the files.
    package func run(_ store: any ExportStore, at now: Timestamp) async throws -> [ExportedFile] {
        try makeDirectory(directory)
        // Two concurrent runs would write the same rows; the lock ends with the process.
        let lock = try attempt("The state file cannot be locked", advice: "Correct --state.") {
            let lock = try OpenFile(statePath + ".lock", O_RDWR | O_CREAT)
            try lock.lock()
            return lock
        }
        defer { lock.unlock() }
        var state = try ExportState(subject: subject, reading: statePath)
        var files: [ExportedFile] = []
        if let pending = state.pending {
            try publish(pending, &state)
            files.append(pending)
        }
        var query = ExportQuery(table, end: try await store.end(of: table, at: now))
        query.app = app
        if !table.isSnapshot, let text = state.cursor {
            query.since = ExportCursor(text, of: table)
            guard query.since != nil else {
                throw CommandFailure.because("\(statePath) has a cursor that the table does not have.")
                    .advising("Name another file with --state; a new file starts a whole export.")
            }
        }
        var file: Draft?
        while true {
            let page = try await store.export(query)
            for row in page.rows {
                let hour = hour(of: row.cursor) ?? Self.hour(of: now)
                if let whole = file, whole.hour != hour {
                    if let done = try finish(whole, &state) { files.append(done) }
                    file = nil
                }
                if file == nil { file = try Draft(draftPath, hour, format.encoder(of: table)) }
                try file?.add(row)
            }
            guard let next = page.next else { break }
            query.since = next
        }
        if let file, let done = try finish(file, &state) { files.append(done) }
        return files
    }

    /// Ends a file; returns nil for a snapshot that is the same as the last one.
    private func finish(_ draft: Draft, _ state: inout ExportState) throws -> ExportedFile? {
        let (hour, rows, last) = (draft.hour, draft.rows, draft.last)
        let sha256 = try draft.end()
        try afterStep()
        guard !table.isSnapshot || sha256 != state.snapshot else {
            TextFile.delete(draftPath)
            return nil
        }
        let number = String(state.fileCount + 1)
        let digits = String(repeating: "0", count: max(0, 6 - number.utf8.count)) + number
        let name = "\(table.rawValue)-\(hour)-\(digits).\(format.rawValue)"
        let file = ExportedFile(
            path: "date=\(hour.prefix(10))/\(name)",
            rows: rows,
            sha256: sha256,
            last: last
        )
        guard !TextFile.exists("\(directory)/\(file.path)") else {
            throw CommandFailure.because(
                "\(directory)/\(file.path) exists, and \(statePath) does not know it."
            )
            .advising("Name the state file of this directory, or an empty directory.")
        }
        state.pending = file
        // The state refers to the draft, so a power cut must not lose the draft's name after the state is on disk.
        try attempt("The directory could not be synced", advice: "Run the command again.") {
            try OpenFile(directory, O_RDONLY | O_DIRECTORY).synchronize()
        }
        try state.write(to: statePath)
        try afterStep()
        try publish(file, &state)
        return file
    }

    /// Gives a pending file its name and its line in the manifest, unless it has them, and moves the state's cursor to
    /// its last row.
    private func publish(_ file: ExportedFile, _ state: inout ExportState) throws {
        let path = "\(directory)/\(file.path)"
        try makeDirectory(TextFile.directory(of: path))
        if !TextFile.exists(path) {
            try attempt("The file could not get its name", advice: "Run the command again.") {
                try TextFile.rename(draftPath, to: path)
            }
        }
        try afterStep()
        let manifest = "\(TextFile.directory(of: path))/\(table.rawValue)-manifest.ndjson"
        var text = ""
        if TextFile.exists(manifest) {
            text = try attempt("The manifest could not be read", advice: "Correct its mode.") {
                String(decoding: try OpenFile(manifest, O_RDONLY).readAll(limit: 1 << 26), as: UTF8.self)
            }
        }
        let line = JSONWriter.object { file.write(to: &$0) }.text + "\n"
        if !text.hasSuffix(line) { try Self.replace(manifest, by: text + line) }
        try afterStep()
        state.pending = nil
        state.cursor = file.last
        state.fileCount += 1
        if table.isSnapshot { state.snapshot = file.sha256 }
        try state.write(to: statePath)
        try afterStep()
    }

    /// Returns the hour in which a row was recorded, as `2026-10-01T12`; nil for snapshots, deletions and deliveries.
    ///
    /// For a count, it is the hour that the count is about.
    private func hour(of cursor: ExportCursor) -> String? {
        switch cursor {
        case .row(let number): table.isSnapshot ? nil : Self.hour(of: Timestamp(milliseconds: number >> 16))
        case .count(let count): Self.hour(of: count.hour)
        case .deletion, .delivery: nil
        }
    }

    private static func hour(of time: Timestamp) -> String { String(time.iso8601.prefix(13)) }

    private func makeDirectory(_ path: String) throws {
        try attempt("The directory could not be created", advice: "Create its parent, or correct --to.") {
            try TextFile.createDirectory(path)
        }
    }

    /// Replaces a file as a whole; returns when the new one is on disk.
    static func replace(_ path: String, by text: String) throws {
        try attempt("The file could not be written", advice: "Make room and run the command again.") {
            let draft = path + ".draft"
            let file = try OpenFile(draft, O_WRONLY | O_CREAT | O_TRUNC)
            try file.write(Array(text.utf8))
            try file.synchronize()
            try TextFile.rename(draft, to: path)
        }
    }
}

/// A file that an export is writing.
private final class Draft {
    let hour: String
    private(set) var rows = 0
    private(set) var last = ""
    private let file: OpenFile
    private var encoder: any RowEncoder
    private var digest = SHA256.Parts()
    private var buffer: [UInt8] = []

    init(_ path: String, _ hour: String, _ encoder: any RowEncoder) throws {
        (self.hour, self.encoder) = (hour, encoder)
        file = try attempt("The file could not be created", advice: "Correct --to, or make room.") {
            try OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC)
        }
        self.encoder.start(&buffer)
    }

    func add(_ row: ExportRow) throws {
        try encoder.add(row, to: &buffer)
        (rows, last) = (rows + 1, row.cursor.text)
        if buffer.count >= 64 * 1024 { try write() }
    }

    private func write() throws {
        do { try file.write(buffer) } catch { throw CommandFailure.lostOutput(error.text) }
        digest.add(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Brings the file to disk, and returns its SHA-256 in hexadecimal digits.
    func end() throws -> String {
        encoder.end(&buffer)
        try write()
        do { try file.synchronize() } catch { throw CommandFailure.lostOutput(error.text) }
        return Hexadecimal.text(of: digest.digest.bytes)
    }
}
