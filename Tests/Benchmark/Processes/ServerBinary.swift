import Foundation

/// The server's program, as it was built.
struct ServerBinary {
    let path: String
    let version: String
    /// The flags that `serve` knows.
    private let flags: Set<String>

    /// Finds it at `path`, or beside this program.
    init(path: String?) throws {
        self.path = try path ?? OwnProgram.sibling("afterlink")
        guard FileManager.default.isExecutableFile(atPath: self.path) else {
            throw BenchmarkError(
                "There is no program \(self.path): build it with "
                    + "`swift build -c release --static-swift-stdlib --product afterlink`, or name it with --binary."
            )
        }
        version = try ChildProcess.output(self.path, ["version"])
        let help = try ChildProcess.output(self.path, ["help", "settings", "--markdown"])
        flags = Set(
            help.split(separator: "`").compactMap { part in
                part.hasPrefix("--") ? part.split(separator: " ").first.map(String.init) : nil
            }
        )
    }

    func knows(_ flag: String) -> Bool {
        flags.contains(flag)
    }
}
