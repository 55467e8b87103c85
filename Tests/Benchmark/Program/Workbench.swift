import Crypto
import Foundation
import Glibc
import SQLiteStorage

/// What the rows share: the options, the server's program, stored clicks, and a place to work in.
final class Workbench {
    let options: Options
    let scale: Scale
    let binary: ServerBinary
    let folder: WorkFolder
    /// How long a sync to disk took at the start.
    let syncMicroseconds: Double
    private let cache: SeedCache
    private var knownTemplate: ClickTemplate?
    private var seriesCount: UInt32

    init(_ options: Options) throws {
        self.options = options
        scale = Scale(options)
        binary = try ServerBinary(path: options.binary)
        let path = try options.cache ?? OwnProgram.sibling("benchmark-cache")
        cache = try SeedCache(folder: path)
        folder = try WorkFolder(in: path)
        syncMicroseconds = try DiskSync.medianMicroseconds(in: folder.path)
        seriesCount = UInt32(truncatingIfNeeded: UInt64(Date().timeIntervalSince1970))
    }

    /// Tells whoever watches what goes on; figures go elsewhere.
    func say(_ text: String) {
        FileHandle.standardError.write(Data("# \(text)\n".utf8))
    }

    /// A copy of a database with so many clicks, to be worked with and thrown away.
    func installation(_ plan: SeedPlan) throws -> Installation {
        try Installation(copying: cache.installation(plan, self), to: folder.makeFolder("database"))
    }

    /// What the server writes for a click.
    func template() throws -> ClickTemplate {
        if let knownTemplate { return knownTemplate }
        let template = try ClickTemplate(self)
        knownTemplate = template
        return template
    }

    /// Tells the clicks of one load from those of all others, of this run and of earlier ones.
    func nextSeries() -> UInt32 {
        seriesCount &+= 1
        return seriesCount
    }

    /// Refuses a server that was built from other migrations than this program: rows would be made for the wrong one.
    func checkSchema(of database: PlainDatabase) throws {
        let applied = try database.rows("SELECT digest FROM migrations ORDER BY number").compactMap(\.first)
        let own = SQLiteStore.embeddedMigrations.sorted { $0.name < $1.name }.map { migration in
            PlainValue.blob(SHA256.digest(of: Array(migration.text.utf8)).bytes)
        }
        guard applied == own else {
            throw BenchmarkError(
                "\(binary.path) has other migrations than this program: build both from the same source."
            )
        }
    }

    /// Measures contestants in turns, each of so many seconds, after each has had a short one that does not count.
    ///
    /// Gives for each contestant its figures in the order of the rounds.
    func interleaved<Value>(_ contestants: [(_ seconds: Double) throws -> Value]) throws -> [[Value]] {
        if !options.isQuick { for contestant in contestants { _ = try contestant(1) } }
        var figures = contestants.map { _ in [Value]() }
        for _ in 0..<options.rounds {
            for (index, contestant) in contestants.enumerated() {
                figures[index].append(try contestant(options.seconds))
            }
        }
        return figures
    }
}
