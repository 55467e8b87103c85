import Foundation
import Support

/// A power cut that a server is heading for: from now on all it writes is noted, and after its end its folder can
/// be set back to what a disk would hold.
struct PowerCut {
    let faults: FaultyDisk
    private let installation: Installation
    private let journal: URL
    private let before: SimulatedDisk

    /// All that is in the folder now counts as synced.
    init(of installation: Installation) throws {
        self.installation = installation
        let folder = installation.folder
        journal = folder.appending(path: "journal-\(UUID().uuidString)")
        faults = try FaultyDisk(in: folder, journal: journal)
        before = try SimulatedDisk(folder: folder)
    }

    /// Starts the server that will meet it; it gives no answer twice.
    func start(_ arguments: [String] = [], environment: [String: String] = [:]) throws -> AfterlinkProcess {
        try AfterlinkProcess(
            installation,
            ["--replay-grace", "0"] + arguments,
            environment: faults.environment.merging(environment) { $1 }
        )
    }

    /// What the server did, once it has ended.
    func records() throws -> [DiskRecord] { try DiskRecord.read(journal) }

    /// The disk after the first so many of the server's changes.
    func disk(after records: some Sequence<DiskRecord>) -> SimulatedDisk {
        var disk = before
        disk.apply(records)
        return disk
    }

    /// Ends it: the folder is as the cut left it.
    ///
    /// - Returns: what else it might have left, for each remainder.
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
