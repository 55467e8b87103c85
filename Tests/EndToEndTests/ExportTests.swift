import Attribution
import Foundation
import Server
import Support
import Testing
import afterlink

/// The files of an export, read as a warehouse reads them.
private struct Exported {
    let folder: URL

    /// The lines of all files that the manifests list, without the headings, in the order of the files' numbers.
    ///
    /// Requires that each file has the rows and the SHA-256 of its line in the manifest, and that no other file is
    /// there.
    func rows(of table: String) throws -> [String] {
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        var listed: [String: [String: Any]] = [:]
        for path in all where path.hasSuffix("\(table)-manifest.ndjson") {
            for line in try String(contentsOf: folder.appending(path: path), encoding: .utf8).split(
                separator: "\n"
            ) {
                let entry = try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                )
                let file = try #require(entry["file"] as? String)
                #expect(listed.updateValue(entry, forKey: file) == nil, "\(file) is listed twice")
            }
        }
        let files = all.filter { $0.hasSuffix(".csv") && !$0.contains("/.") && !$0.hasPrefix(".") }
        #expect(Set(files) == Set(listed.keys))
        var rows: [String] = []
        for (file, entry) in listed.sorted(by: { $0.key.suffix(10) < $1.key.suffix(10) }) {
            let url = folder.appending(path: file)
            let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(
                lines.first?.hasPrefix(table == "deletions" ? "cursor,table,id,app," : "cursor,id,app,")
                    == true
            )
            #expect(entry["rows"] as? Int == lines.count - 1)
            let digest = try ChildProcess.run(URL(filePath: "/usr/bin/sha256sum"), [url.path]).text
            #expect(entry["sha256"] as? String == String(digest.prefix(64)))
            rows += lines.dropFirst()
        }
        return rows
    }
}

/// A table of numbered rows, three an hour.
private final class NumberedRows: ExportStore {
    var count: Int64

    init(_ count: Int64) { self.count = count }

    private static func cursor(_ number: Int64) -> ExportCursor {
        .row((1_790_000_000_000 + number * 1_200_000) << 16 | number)
    }

    func end(of table: ExportTable, at now: Timestamp) -> ExportCursor { Self.cursor(count) }

    func export(_ query: ExportQuery) -> ExportPage {
        var page = ExportPage()
        guard case .row(let end) = query.end else { return page }
        var since: Int64 = 0
        if case .row(let number)? = query.since { since = number }
        for number in 1...count {
            guard case .row(let place) = Self.cursor(number), place > since, place <= end else { continue }
            let values = query.table.columns.map { ExportValue.text("\($0) \(number)") }
            page.rows.append(ExportRow(Self.cursor(number), values))
            guard page.rows.count < 2 else {
                page.next = Self.cursor(number)
                break
            }
        }
        return page
    }
}

@Suite("afterlink export", .blocking)
struct ExportTests {
    private struct Killed: Error {}

    private static func folder(_ directory: URL, afterStep: @escaping () throws -> Void = {}) -> ExportFolder
    {
        var folder = ExportFolder(
            directory: directory.path,
            statePath: directory.path + ".state",
            table: .clicks,
            format: .csv,
            app: nil
        )
        folder.afterStep = afterStep
        return folder
    }

    @Test("loses and repeats no row, at whichever steps it is killed")
    func survivesKills() async throws {
        let place = TemporaryFolder.fresh("exports")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let now = Timestamp(milliseconds: 1_790_000_000_000)
        var steps = 0
        let whole = place.appending(path: "whole")
        let store = NumberedRows(8)
        _ = try await Self.folder(whole) { steps += 1 }.run(store, at: now)
        #expect(try Exported(folder: whole).rows(of: "clicks").count == 8)
        #expect(steps >= 3 * 5)
        for step in 1...steps {
            let directory = place.appending(path: "killed-\(step)")
            let store = NumberedRows(8)
            // The export is killed at this step, then at the first step of the next run, then at the second of the
            // third run.
            for last in [step, 1, 2] {
                var count = 0
                let folder = Self.folder(directory) {
                    count += 1
                    if count == last { throw Killed() }
                }
                await #expect(throws: Killed.self) { _ = try await folder.run(store, at: now) }
                store.count += 1
            }
            _ = try await Self.folder(directory).run(store, at: now)
            let rows = try Exported(folder: directory).rows(of: "clicks")
            #expect(
                rows.map { $0.split(separator: ",")[1] } == (1...store.count).map { "id \($0)" },
                "step \(step)"
            )
            #expect(try await Self.folder(directory).run(store, at: now).isEmpty)
        }
    }

    @Test("writes what is new, while the service records more, and nothing if nothing is new")
    func continues() throws {
        let (installation, server, connection) = try Installation.serving()
        let exported = Exported(folder: installation.folder.appending(path: "exports"))
        let state = installation.folder.appending(path: "clicks.state").path
        func export(_ table: String = "clicks") throws -> ChildProcess.Output {
            let target = ["--to", exported.folder.path, "--state", table == "clicks" ? state : state + table]
            return try installation.run(["export", "--table", table] + target)
        }
        for number in 1...3 { #expect(try connection.click(fingerprint(number)).status == 201) }
        #expect(try export().text.hasPrefix("Wrote 3 rows of clicks to "))
        #expect(try export().text == "Nothing is new in clicks.\n")
        for number in 4...5 { #expect(try connection.click(fingerprint(number)).status == 201) }
        #expect(try export().text.hasPrefix("Wrote 2 rows of clicks to "))
        let path = "/admin/api/export/clicks.csv"
        let whole = try connection.call(
            "GET",
            path,
            fields: ["Authorization": "Bearer \(installation.keys.admin)"]
        )
        #expect(whole.status == 200 && whole.fields["transfer-encoding"] == "chunked")
        let lines = whole.text.split(separator: "\n").map(String.init)
        #expect(try exported.rows(of: "clicks") == Array(lines.dropFirst()) && lines.count == 6)
        #expect(try export("links").text == "Nothing is new in links.\n")
        #expect(try export("checks").text == "Nothing is new in checks.\n")
        server.terminate()
        #expect(server.waitUntilExit() == 0)
    }

    @Test("names in the next run what was erased, and nothing in later runs")
    func deletions() throws {
        let (installation, server, connection) = try Installation.serving()
        let exported = Exported(folder: installation.folder.appending(path: "exports"))
        func export() throws -> ChildProcess.Output {
            let state = installation.folder.appending(path: "deletions.state").path
            return try installation.run(
                ["export", "--table", "deletions", "--to", exported.folder.path, "--state", state]
            )
        }
        let ids = try (1...3).map { try #require(try connection.click(fingerprint($0)).string("click_id")) }
        // The first run states from which day on rows are stored.
        #expect(try export().text.hasPrefix("Wrote 1 row of deletions"))
        #expect(try export().text == "Nothing is new in deletions.\n")
        for id in ids[1...] { #expect(try installation.run(["erase", "--click-id", id]).status == 0) }
        #expect(try export().text.hasPrefix("Wrote 2 rows of deletions"))
        #expect(try export().text == "Nothing is new in deletions.\n")
        let rows = try exported.rows(of: "deletions").map { $0.split(separator: ",").map(String.init) }
        #expect(rows.count == 3 && rows[0].contains("retention"))
        #expect(rows[1...].map { $0[2] } == Array(ids[1...]))
        #expect(
            rows[1...].allSatisfy { $0[1] == "clicks" && $0[3] == installation.appID && $0[5] == "erasure" }
        )
        let event = try connection.call(
            "POST",
            "/v1/events",
            fields: ["Authorization": "Bearer \(installation.keys.app)", "Content-Type": "application/json"],
            body: #"{"events":[{"event_id":"e1","name":"open","user":"ann"}]}"#
        )
        #expect(event.status == 202)
        #expect(try installation.run(["erase", "--user", "ann"]).status == 0)
        #expect(try export().status == 0)
        let last = try #require(try exported.rows(of: "deletions").last { $0.contains("erasure") })
        #expect(last.contains(",events,") && last.contains(installation.appID))
        server.terminate()
        #expect(server.waitUntilExit() == 0)
    }

    @Test("refuses what it cannot do, and says what to do instead")
    func refusals() throws {
        let installation = try Installation()
        let target = ["--to", installation.folder.appending(path: "e").path]
        let state = ["--state", installation.folder.appending(path: "s").path]
        let unknown = try installation.run(
            ["export", "--table", "clicks", "--format", "xls"] + target + state
        )
        #expect(unknown.status != 0 && unknown.errors.contains("must be csv, ndjson or parquet"))
        let incomplete = try installation.run(["export", "--table", "clicks"] + target)
        #expect(
            incomplete.status != 0
                && incomplete.errors.contains("needs a table, a directory and a state file")
        )
        #expect(
            try installation.run(["export", "--table", "secrets"] + target + state).errors.contains(
                "one of clicks"
            )
        )
        #expect(try installation.run(["export", "--table", "clicks"] + target + state).status == 0)
        try #"{"subject":"links.csv of all apps","files":0}"#
            .write(toFile: state[1], atomically: true, encoding: .utf8)
        let other = try installation.run(["export", "--table", "clicks"] + target + state)
        #expect(
            other.status != 0
                && other.errors.contains("is the state of another export: links.csv of all apps")
        )
    }
}
