import Foundation
import Support

/// A power cut during a server's life: all writes of the server are recorded, and after its end the folder can be reset
/// to what a disk would contain.
struct PowerCut {
    let faults: FaultyDisk
    private let installation: Installation
    private let journal: URL
    private let before: SimulatedDisk

    /// Prepares a cut; all files that are in the folder now count as synced.
    init(of installation: Installation) throws {
        self.installation = installation
        let folder = installation.folder
        journal = folder.appending(path: "journal-\(UUID().uuidString)")
        faults = try FaultyDisk(in: folder, journal: journal)
        before = try SimulatedDisk(folder: folder)
    }

    /// Starts the server, which repeats no response to callers, and records its writes.
    func start(_ arguments: [String] = [], environment: [String: String] = [:]) throws -> AfterlinkProcess {
        try AfterlinkProcess(
            installation,
            ["--replay-grace", "0"] + arguments,
            environment: faults.environment.merging(environment) { $1 }
        )
    }

    /// Returns the server's changes, once it has ended.
    func records() throws -> [DiskRecord] { try DiskRecord.read(journal) }

    /// Returns the disk after the given changes of the server.
    func disk(after records: some Sequence<DiskRecord>) -> SimulatedDisk {
        var disk = before
        disk.apply(records)
        return disk
    }

    /// Resets the folder to what the cut left.
    ///
    /// - Returns: the disk before the cut, from which other remainders can be made.
    func happen(leaving remainder: SimulatedDisk.Remainder, using random: inout SeededGenerator) throws
        -> SimulatedDisk
    {
        let disk = disk(after: try records())
        try SimulatedDisk.write(
            disk.files(after: remainder, using: &random),
            to: installation.folder,
            using: &random
        )
        try FileManager.default.removeItem(at: journal)
        return disk
    }
}
