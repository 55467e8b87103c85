import Foundation
import Support
import Testing

/// Tests power cuts before the names, header and keys of a new database are on disk.
@Suite("A power cut in a new database's first seconds", .blocking(minutes: 60))
struct FirstSecondsTests {
    private static let keys = Installation.Keys(
        app: "app_" + String(repeating: "a", count: 40),
        server: "",
        test: "",
        admin: "admin_" + String(repeating: "b", count: 40)
    )
    private static let rounds = isLong ? 60 : 6

    /// Starts a server on the installation's database, without recording its writes.
    private func start(_ installation: Installation) throws -> AfterlinkProcess {
        try AfterlinkProcess(installation, ["--replay-grace", "0"], environment: installation.initialKeys)
    }

    private func click(_ numbers: ClosedRange<Int>, _ server: AfterlinkProcess) throws {
        let connection = try server.connect()
        for number in numbers { #expect(try connection.click(fingerprint(number)).status == 201) }
    }

    private func matchCount(_ numbers: ClosedRange<Int>, _ installation: Installation) throws -> Int {
        let server = try start(installation)
        let connection = try server.connect()
        return try numbers.count { try connection.check(fingerprint($0)).isMatch }
    }

    @Test("a power cut loses no acknowledged click and no key")
    func acknowledged() throws {
        var random = SeededGenerator(seed: 50)
        for round in 0..<Self.rounds {
            let installation = try Installation(keys: Self.keys)
            let cut = try PowerCut(of: installation)
            let server = try cut.start(environment: installation.initialKeys)
            let numbers = 1...Int.random(in: 1...4, using: &random)
            try click(numbers, server)
            server.kill()
            _ = try cut.happen(leaving: SimulatedDisk.Remainder.allCases[round % 4], using: &random)
            #expect(try matchCount(numbers, installation) == numbers.count)
        }
    }

    /// Shows that the simulated disk loses names that were not synced.
    @Test("a power cut would lose clicks and keys if folders were not synced")
    func withoutFolderSyncs() throws {
        var random = SeededGenerator(seed: 51)
        let installation = try Installation(keys: Self.keys)
        let cut = try PowerCut(of: installation)
        let server = try cut.start(environment: installation.initialKeys)
        try click(1...3, server)
        server.kill()
        let attributes = try FileManager.default.attributesOfItem(atPath: installation.folder.path)
        let folder = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
        let records = try cut.records().filter { !($0.kind == .endSync && $0.file == folder) }
        #expect(try records.count < cut.records().count)
        let files = cut.disk(after: records).files(after: .nothing, using: &random)
        #expect(files.isEmpty)
    }

    @Test("a power cut at any moment of the first start leaves a folder in which the next start works")
    func duringTheStart() throws {
        var random = SeededGenerator(seed: 52)
        let installation = try Installation(keys: Self.keys)
        let cut = try PowerCut(of: installation)
        try cut.start(environment: installation.initialKeys).kill()
        let records = try cut.records()
        #expect(records.count > 30)
        let moments =
            isLong
            ? Array(0...records.count)
            : (0..<12).map { _ in
                Int.random(in: 0...records.count, using: &random)
            }
        for moment in moments {
            let disk = cut.disk(after: records.prefix(moment))
            for remainder in isLong ? SimulatedDisk.Remainder.allCases : [.nothing, .subset] {
                let next = try Installation(keys: Self.keys)
                let files = disk.files(after: remainder, using: &random)
                try SimulatedDisk.write(files, to: next.folder, using: &random)
                let server = try start(next)
                try click(1...1, server)
                server.kill()
                #expect(try matchCount(1...1, next) == 1)
            }
        }
    }

    @Test(
        "a power cut loses nothing that a second start acknowledged after the first start died",
        arguments: 0...5
    )
    func afterAnUnfinishedStart(syncedFolders: UInt32) throws {
        var random = SeededGenerator(seed: 53)
        let installation = try Installation(keys: Self.keys)
        let cut = try PowerCut(of: installation)
        try cut.faults.set(Fault(.sync, of: .folder, .kill, skipped: syncedFolders))
        let first = try? cut.start(environment: installation.initialKeys)
        first?.kill()
        try cut.faults.set()
        let second = try cut.start(environment: installation.initialKeys)
        try click(1...3, second)
        second.kill()
        _ = try cut.happen(leaving: .nothing, using: &random)
        #expect(try matchCount(1...3, installation) == 3)
    }
}
