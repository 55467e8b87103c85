import Foundation
import Support

/// The library that tests preload into the server, compiled once per run.
enum FaultLibrary {
    /// The path of the library, next to the products of the same build.
    static let path: Result<String, ChildProcess.Failure> = compile()

    private static func compile() -> Result<String, ChildProcess.Failure> {
        let source = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Faults/faults.c")
        let library = Installation.binary.deletingLastPathComponent().appending(path: "faults.so").path
        // Another run of the tests may have loaded the old library, so the old file must not change.
        let draft = "\(library).\(ProcessInfo.processInfo.processIdentifier)"
        do {
            _ = try ExternalProgram.run(
                "gcc",
                [
                    "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", draft, source.path, "-ldl",
                    "-lpthread",
                ]
            )
            // Both paths are valid during the call.
            guard unsafe rename(draft, library) == 0 else {
                return .failure(.init(description: "\(library) cannot be written"))
            }
            return .success(library)
        } catch {
            return .failure(.init(description: "gcc could not build the fault library: \(error)"))
        }
    }
}
