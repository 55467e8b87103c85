import Attribution
import Foundation
import Server
import Support
import Testing
import afterlink

/// Rows of the checks' table with all kinds of values, some unknown.
private final class MixedRows: ExportStore {
    let count: Int

    init(_ count: Int) { self.count = count }

    func end(of table: ExportTable, at now: Timestamp) -> ExportCursor { .row(.max) }

    static func value(_ number: Int, _ index: Int, _ kind: ExportKind) -> ExportValue {
        // Some columns have long runs of known and unknown values; others change with each row.
        guard (number / (index * index + 1)) % 3 > 0 else { return .none }
        switch kind {
        case .text: return .text(number % 7 == 0 ? "" : "Été \(index), \"\(number)\"\n")
        case .time: return .time(Timestamp(milliseconds: Int64(number) * 86_400_001 - 5))
        case .integer: return .integer(number % 2 == 0 ? -number : Int.max - number)
        case .real: return .real(1 / Double(number + 1))
        case .flag: return .flag(number % 5 < 2)
        }
    }

    func export(_ query: ExportQuery) -> ExportPage {
        var page = ExportPage()
        var since = 0
        if case .row(let number)? = query.since { since = Int(number) }
        let last = min(count, since + 1000)
        for number in since..<last {
            let values = query.table.columns.enumerated().map { index, column in
                Self.value(number, index, query.table.kind(of: column))
            }
            page.rows.append(ExportRow(.row(Int64(number + 1)), values))
        }
        page.next = last < count ? .row(Int64(last)) : nil
        return page
    }
}

@Suite("afterlink export --format parquet", .blocking)
struct ParquetTests {
    /// Exports all rows of a store, and returns the file after a comparison with its line in the manifest.
    private static func export(_ store: any ExportStore, _ table: ExportTable) async throws -> [UInt8] {
        let place = TemporaryFolder.fresh("parquet")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let folder = ExportFolder(
            directory: place.path,
            statePath: place.appending(path: "state").path,
            table: table,
            format: .parquet,
            app: nil
        )
        let files = try await folder.run(store, at: Timestamp(milliseconds: 0))
        let file = try #require(files.first)
        #expect(files.count == 1 && file.path.hasSuffix("-000001.parquet"))
        let url = place.appending(path: file.path)
        let digest = try ChildProcess.run(URL(filePath: "/usr/bin/sha256sum"), [url.path]).text
        #expect(file.sha256 == String(digest.prefix(64)))
        return try Array(Data(contentsOf: url))
    }

    private static func text(_ value: ExportValue) -> String? {
        switch value {
        case .none: nil
        case .text(let text), .decimal(let text): text
        case .time(let time): String(time.milliseconds)
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .flag(let flag): flag ? "true" : "false"
        }
    }

    @Test(
        "every value is read as it was, over several row groups",
        arguments: [(.checks, 1), (.checks, 400), (.deletions, 125_000)] as [(ExportTable, Int)]
    )
    func values(table: ExportTable, count: Int) async throws {
        let reader = try ParquetReader(try await Self.export(MixedRows(count), table))
        #expect(reader.rowCount == count && reader.groupCount == (count > 122_880 ? 2 : 1))
        #expect(reader.columns.map(\.name) == ["cursor"] + table.columns)
        #expect(reader.columns[0].type == "BYTE_ARRAY text" && !reader.columns[0].isOptional)
        #expect(reader.columns[0].values == (1...count).map { "\($0)" })
        for (index, column) in table.columns.enumerated() {
            let kind = table.kind(of: column)
            let found = reader.columns[index + 1]
            let type =
                switch kind {
                case .text: "BYTE_ARRAY text"
                case .time: "INT64 timestamp"
                case .integer: "INT64"
                case .real: "DOUBLE"
                case .flag: "BOOLEAN"
                }
            #expect(found.type == type && found.isOptional)
            let isEqual = (0..<count).allSatisfy { number in
                found.values[number] == Self.text(MixedRows.value(number, index, kind))
            }
            #expect(isEqual, "\(column)")
        }
    }

    /// A table whose column of times has a text.
    private final class WrongRows: ExportStore {
        func end(of table: ExportTable, at now: Timestamp) -> ExportCursor { .row(.max) }
        func export(_ query: ExportQuery) -> ExportPage {
            var page = ExportPage()
            page.rows = [ExportRow(.row(1), query.table.columns.map { ExportValue.text($0) })]
            return page
        }
    }

    @Test("a value of another kind than its column's is refused")
    func wrongKind() async throws {
        await #expect(throws: (any Error).self) { _ = try await Self.export(WrongRows(), .clicks) }
    }

    @Test("the command writes the same rows as in an NDJSON export")
    func command() throws {
        let (installation, server, connection) = try Installation.serving()
        let click = try connection.click(fingerprint(1), ["metadata": ["name": "Zoë"]])
        #expect(click.status == 201)
        #expect(try connection.click(fingerprint(2)).status == 201)
        func export(_ format: String) throws -> URL {
            let folder = installation.folder.appending(path: format)
            let output = try installation.run([
                "export", "--table", "clicks", "--format", format, "--to", folder.path, "--state",
                folder.path + ".state",
            ])
            #expect(output.status == 0, "\(output.errors)")
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            let file = try #require(files.first { $0.hasSuffix("000001.\(format)") })
            return folder.appending(path: file)
        }
        let lines = try String(contentsOf: try export("ndjson"), encoding: .utf8).split(separator: "\n")
        let reader = try ParquetReader(try Array(Data(contentsOf: try export("parquet"))))
        #expect(reader.rowCount == 2 && lines.count == 2)
        for (row, line) in lines.enumerated() {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            )
            #expect(object.count == reader.columns.count)
            for column in reader.columns {
                let value = column.values[row]
                switch (column.type, object[column.name]) {
                case ("INT64 timestamp", let text as String):
                    let time = Timestamp(milliseconds: try #require(value.flatMap { Int64($0) }))
                    #expect(time.iso8601 == text)
                case ("BOOLEAN", let flag as Bool): #expect(value == "\(flag)")
                case (_, let text as String): #expect(value == text)
                default: #expect(object[column.name] is NSNull && value == nil, "\(column.name)")
                }
            }
        }
        server.terminate()
        #expect(server.waitUntilExit() == 0)
    }
}
