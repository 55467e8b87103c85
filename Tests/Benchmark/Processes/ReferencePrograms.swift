import Foundation

/// Programs of others that are measured by or with: whether they are there, and which versions.
struct ReferencePrograms {
    let versions: [String]

    private static let commands = [
        ("nginx", "nginx -v 2>&1"),
        ("wrk", "wrk -v 2>&1 | head -n 1 | cut -d' ' -f1,2"),
    ]

    init() throws {
        let missing = Self.commands.map(\.0).filter { !Self.isInstalled($0) }
        guard missing.isEmpty else {
            throw BenchmarkError(
                "\(missing.joined(separator: " and ")) not found: run Tests/Benchmark/install-yardsticks first."
            )
        }
        versions = try Self.commands.map { name, command in
            let version = try ChildProcess.output("sh", ["-c", command + " || true"])
            return version.replacingOccurrences(of: "nginx version: ", with: "")
                .trimmingCharacters(in: .whitespaces)
        }
    }

    private static func isInstalled(_ name: String) -> Bool {
        // nginx lies where only root's path leads.
        ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }
}
