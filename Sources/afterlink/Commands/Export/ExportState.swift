internal import Glibc
internal import JSON

/// A file that an export has written.
package struct ExportedFile: Equatable, Sendable {
    /// The path in the export's directory.
    package let path: String
    package let rows: Int
    /// In hexadecimal digits.
    package let sha256: String
    /// The cursor of the last row.
    let last: String

    func write(to json: inout JSONWriter) {
        json.member("file", path)
        json.member("rows", Int64(rows))
        json.member("sha256", sha256)
        json.member("last", last)
    }

    init(path: String, rows: Int, sha256: String, last: String) {
        (self.path, self.rows, self.sha256, self.last) = (path, rows, sha256, last)
    }

    init?(_ json: JSONObject) {
        guard let path = json["file"]?.string, let sha256 = json["sha256"]?.string,
            let rows = (json["rows"]?.number?.text).flatMap({ Int($0) }), let last = json["last"]?.string
        else { return nil }
        self.init(path: path, rows: rows, sha256: sha256, last: last)
    }
}

/// What an export remembers between its runs.
struct ExportState {
    /// The table, the format and the app, which no later run may change.
    let subject: String
    /// The cursor of the last exported row; nil before the first.
    var cursor: String?
    /// The number of files that were written.
    var fileCount = 0
    /// The digest of the last snapshot, for a table that is exported as a whole.
    var snapshot: String?
    /// A completely written file that may still lack its final name, or its line in the manifest.
    var pending: ExportedFile?

    init(subject: String) { self.subject = subject }

    /// Reads a state file; returns a new state if there is no file.
    init(subject: String, reading path: String) throws {
        self.init(subject: subject)
        guard TextFile.exists(path) else { return }
        let text = try attempt("The state file could not be read", advice: "Correct --state.") {
            try OpenFile(path, O_RDONLY).readAll(limit: 1 << 20)
        }
        guard let json = try? JSONValue(parsing: text).object, let stored = json["subject"]?.string,
            let count = (json["files"]?.number?.text).flatMap({ Int($0) })
        else {
            throw CommandFailure.because("\(path) is not the state of an export.")
                .advising("Name another file with --state; a new file starts a whole export.")
        }
        guard stored == subject else {
            throw CommandFailure.because("\(path) is the state of another export: \(stored).")
                .advising("Name a file of its own with --state for \(subject).")
        }
        (cursor, snapshot, fileCount) = (json["cursor"]?.string, json["snapshot"]?.string, count)
        pending = json["pending"]?.object.flatMap { ExportedFile($0) }
    }

    func write(to path: String) throws {
        let json = JSONWriter.object { json in
            json.member("subject", subject)
            json.member("cursor", cursor)
            json.member("files", Int64(fileCount))
            json.member("snapshot", snapshot)
            if let pending { json.object("pending") { pending.write(to: &$0) } }
        }
        try ExportFolder.replace(path, by: json.text + "\n")
    }
}
