import Foundation
import Support

/// A disk that fails on command, and a clock that can be set: a library preloaded into the server and controlled
/// through shared memory, so that settings take effect at once.
final class FaultyDisk: Sendable {
    /// The environment for the server.
    let environment: [String: String]
    private let control: FileHandle
    /// The folder with the library and the control page for a PostgreSQL server; nil for other disks.
    private let shared: TemporaryFolder?

    private static let headerLength = 64
    private static let ruleLength = 32
    private static let ruleCount = 16

    /// - Parameters:
    ///   - folder: the folder of the database.
    ///   - journal: a file that records all changes in the folder, nil for none; with it, syncs do not reach the disk.
    /// - Throws: if the library cannot be built, or the folder is not writable.
    init(in folder: URL, journal: URL? = nil) throws {
        let file = folder.appending(path: "faults-\(UUID().uuidString)")
        try Data(count: Self.headerLength + Self.ruleCount * Self.ruleLength).write(to: file)
        control = try FileHandle(forUpdating: file)
        var environment = [
            "LD_PRELOAD": try FaultLibrary.path.get(), "AFTERLINK_FAULTS": file.path,
            "AFTERLINK_FAULTS_FOLDER": folder.resolvingSymlinksInPath().path,
        ]
        environment["AFTERLINK_FAULTS_JOURNAL"] = journal?.path
        self.environment = environment
        shared = nil
    }

    /// Creates the disk of a PostgreSQL server that is not started yet, and may run as another user.
    init(ofClusterIn folder: URL) throws {
        let shared = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: shared.path)
        let (library, file) = (shared.file("faults.so"), shared.file("control"))
        try FileManager.default.copyItem(atPath: try FaultLibrary.path.get(), toPath: library)
        try Data(count: Self.headerLength + Self.ruleLength * Self.ruleCount).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        control = try FileHandle(forUpdating: URL(filePath: file))
        self.shared = shared
        environment = [
            "LD_PRELOAD": library, "AFTERLINK_FAULTS": file, "AFTERLINK_FAULTS_CLUSTER": "1",
            "AFTERLINK_FAULTS_FOLDER": folder.path,
        ]
    }

    /// Deletes the files of a PostgreSQL server's disk at the end of the process.
    func remove() { shared?.remove() }

    /// Replaces all faults.
    func set(_ faults: Fault...) throws {
        precondition(faults.count <= Self.ruleCount, "the control page has room for 16 faults")
        for index in 0..<Self.ruleCount { try write([0], at: Self.offset(index)) }
        for (index, fault) in faults.enumerated() {
            try write(fault.words, at: Self.offset(index))
            // Enable the rule last, so that the library never follows half a rule.
            try write([1], at: Self.offset(index))
        }
    }

    /// Returns how many calls the fault at this index has affected or let pass.
    func callCount(ofFault index: Int = 0) throws -> Int {
        try control.seek(toOffset: UInt64(Self.offset(index) + Self.ruleLength - 4))
        let bytes = try control.read(upToCount: 4) ?? Data()
        return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Lets the server's wall clock differ from the machine's.
    func setClock(offBySeconds seconds: Int64) throws {
        let milliseconds = UInt64(bitPattern: seconds * 1000)
        let high = UInt32(truncatingIfNeeded: milliseconds >> 32)
        try write([UInt32(truncatingIfNeeded: milliseconds), high], at: 0)
    }

    private static func offset(_ index: Int) -> Int { headerLength + index * ruleLength }

    private func write(_ words: [UInt32], at offset: Int) throws {
        let bytes = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        try control.seek(toOffset: UInt64(offset))
        try control.write(contentsOf: Data(bytes))
    }
}

extension AfterlinkProcess {
    /// Starts a server without replays on a new database, whose disk and clock the test controls.
    static func onFaultyDisk(_ arguments: [String] = []) throws -> (
        Installation, FaultyDisk, AfterlinkProcess
    ) {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        let server = try AfterlinkProcess(
            installation,
            ["--replay-grace", "0"] + arguments,
            environment: disk.environment
        )
        return (installation, disk, server)
    }
}
