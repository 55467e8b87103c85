import Crypto
import Foundation
import SQLiteStorage

/// Databases with many clicks, kept between runs: made once for each schema and size.
struct SeedCache {
    let folder: String
    /// Of all migrations together, and how rows are made.
    private let schema: String

    init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = SQLiteStore.embeddedMigrations.map { $0.name + "\n" + $0.text }.joined(separator: "\n")
        let digest = SHA256.digest(of: Array("\(SeedPlan.version)\n\(text)".utf8)).bytes
        schema = digest.prefix(6).map { String($0, radix: 16) }.joined()
        removeOthers()
    }

    /// The database of a plan, made when it is not there or too old.
    func installation(_ plan: SeedPlan, _ bench: Workbench) throws -> Installation {
        let path = "\(folder)/clicks-\(schema)-\(plan.name)"
        if let age = Self.age(of: path + "/afterlink.db"), age < SeedPlan.shelfLife {
            return try Installation(in: path)
        }
        try? FileManager.default.removeItem(atPath: path)
        bench.say("storing \(plan.stored) clicks, \(plan.live) of them live …")
        let unfinished = bench.folder.makeFolder("clicks")
        let made = try Installation(making: unfinished, with: bench.binary)
        try Seeder(plan, into: made, try bench.template()).run()
        try FileManager.default.moveItem(atPath: unfinished, toPath: path)
        return try Installation(in: path)
    }

    /// Databases of a schema that is no more are of no use, and large.
    private func removeOthers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix("clicks-") && !name.hasPrefix("clicks-\(schema)-") {
            try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }

    private static func age(of path: String) -> Double? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.modificationDate] as? Date).map { -$0.timeIntervalSinceNow }
    }
}
