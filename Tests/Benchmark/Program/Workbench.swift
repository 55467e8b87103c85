import Foundation
import Glibc
import Support

/// The state that the rows share: the options, the server's binary, stored clicks, and a work folder.
final class Workbench {
    let options: Options
    let scale: Scale
    let binary: ServerBinary
    let folder: WorkFolder
    /// The duration of a sync to disk, measured when the run starts.
    let syncMicroseconds: Double
    /// The rates of the mixed load, which are the same for both binaries of a comparison.
    let mixedRates: MixedRates
    private let cache: SeedCache
    #if PostgreSQL
    /// The PostgreSQL server of the run, which the first row that needs it starts.
    private(set) lazy var postgreSQL = Result { try PostgreSQLBench(self) }
    #endif
    private var seriesCount: UInt32

    /// Whether the run compares two binaries, instead of one binary with reference programs.
    var comparesBinaries: Bool { options.rival != nil }

    init(_ options: Options) throws {
        self.options = options
        scale = Scale(options)
        binary = try ServerBinary(options.binary)
        let path = options.cache ?? Installation.binary.deletingLastPathComponent().path + "/benchmark-cache"
        cache = try SeedCache(folder: path)
        folder = try WorkFolder(in: path)
        syncMicroseconds = try DiskSync.medianMicroseconds(in: folder.path)
        mixedRates = MixedRates()
        seriesCount = UInt32(truncatingIfNeeded: UInt64(Date().timeIntervalSince1970))
    }

    /// Creates the workbench of another binary, in the same folder.
    init(_ other: Workbench, with binary: ServerBinary) {
        (options, scale, folder, cache) = (other.options, other.scale, other.folder, other.cache)
        (syncMicroseconds, seriesCount) = (other.syncMicroseconds, other.seriesCount)
        (mixedRates, self.binary) = (other.mixedRates, binary)
    }

    /// Reports progress on standard error, apart from the figures.
    func say(_ text: String) { FileHandle.standardError.write(Data("# \(text)\n".utf8)) }

    /// Makes a copy of a database with the plan's clicks; the copy is deleted when the returned value is released.
    func installation(_ plan: SeedPlan) throws -> Installation {
        try copy(cache.installation(plan, self))
    }

    /// Makes a copy of a database that no process has open; the copy is deleted when the returned value is released.
    ///
    /// The copy is synced, so that writing it back does not disturb a measurement.
    func copy(_ original: Installation) throws -> Installation {
        let copy = try Installation(
            in: folder.makeFolder("database"),
            binary: binary.file,
            keys: original.keys
        )
        let folders = [original.folder.path + "/.", copy.folder.path]
        _ = try ExternalProgram.run("cp", ["-a", "--reflink=auto"] + folders)
        _ = try ExternalProgram.run("sync", [copy.database.path])
        return copy
    }

    /// Starts a server on a copy of a database whose clicks are all live.
    func liveServer() throws -> Server { try Server(installation(.live(scale.liveClicks)), self) }

    /// Makes a new database without clicks.
    func emptyInstallation() throws -> Installation {
        try Installation(in: folder.makeFolder("empty"), binary: binary.file)
    }

    /// Returns a new series, whose clicks differ from those of all other loads of this run and of earlier runs.
    func nextSeries() -> UInt32 {
        seriesCount &+= 1
        return seriesCount
    }

    /// Measures contestants in turns of ``Options/seconds`` each, after a turn of one second that does not count.
    ///
    /// - Returns: for each contestant its results in the order of the rounds.
    func interleaved<Value>(_ contestants: [(_ seconds: Double) throws -> Value]) throws -> [[Value]] {
        if !options.isQuick { for contestant in contestants { _ = try contestant(1) } }
        var results = contestants.map { _ in [Value]() }
        for round in 0..<options.rounds {
            let order = Array(contestants.indices)
            // Each second round runs in the opposite order, so that no contestant always follows the same one.
            for index in round.isMultiple(of: 2) ? order : order.reversed() {
                results[index].append(try contestants[index](options.seconds))
            }
        }
        return results
    }
}

/// How many clicks the rows store, how many connections they open, and how long the soak takes.
struct Scale {
    var liveClicks = 1_000_000
    var storedClicks = 10_000_000
    /// How many of the stored clicks are live: a day of a year's traffic.
    var liveOfStored = 27_397
    var yearOfClicks: SeedPlan { SeedPlan(stored: storedClicks, live: liveOfStored) }
    var fewClicks = 10_000
    var veryFewClicks = 1_000
    var expiredClicks = 1_000_000
    /// How many postbacks wait for a dead receiver.
    var queuedFacts = 1_000_000
    /// The installations whose events are sent, and how often an app is launched for the first time.
    var installs = 5000
    var firstLaunches = 20
    /// The clicks of a large PostgreSQL database, and how many of them a server records.
    var clicksOnPostgreSQL = 2_000_000
    var recordedOnPostgreSQL = 250_000
    var recordedOnCitus = 50_000
    var hotClicks = 20_000
    var hotChecks = 400
    var idleConnections = 10_000
    var soakSeconds = 600.0

    init(_ options: Options) {
        if options.isLong { soakSeconds = 3600 }
        // Each of the two binaries stores its own clicks, and a comparison needs no more clicks than these.
        if options.rival != nil { (liveClicks, storedClicks) = (500_000, 2_000_000) }
        guard options.isQuick else { return }
        (liveClicks, storedClicks, liveOfStored) = (40_000, 20_000, 1_000)
        (fewClicks, expiredClicks) = (2_000, 10_000)
        (clicksOnPostgreSQL, recordedOnPostgreSQL, recordedOnCitus) = (40_000, 20_000, 20_000)
        (hotClicks, hotChecks) = (500, 20)
        (idleConnections, soakSeconds) = (300, 3)
        (queuedFacts, installs, firstLaunches) = (40_000, 50, 3)
    }
}

/// The folder of one run, on the file system of the cache, so that copies are measured on the same disk.
final class WorkFolder {
    let path: String
    var url: URL { URL(filePath: path, directoryHint: .isDirectory) }
    private var count = 0

    init(in parent: String) throws {
        Self.removeLeftovers(in: parent)
        path = "\(parent)/run-\(getpid())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func delete() { try? FileManager.default.removeItem(atPath: path) }

    /// Deletes the folders of interrupted runs, which may be gigabytes.
    ///
    /// No process uses them: the kernel has ended the children of such a run.
    private static func removeLeftovers(in parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
            guard name.hasPrefix("run-"), let process = Int32(name.dropFirst(4)), kill(process, 0) != 0 else {
                continue
            }
            try? FileManager.default.removeItem(atPath: "\(parent)/\(name)")
        }
    }

    /// Returns the name of a new folder inside the run's folder; the folder is not created.
    func makeFolder(_ name: String) -> URL {
        count += 1
        return URL(filePath: "\(path)/\(name)-\(count)", directoryHint: .isDirectory)
    }
}
