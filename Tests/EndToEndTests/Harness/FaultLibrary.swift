import Foundation
import Support

/// The libraries that tests preload into the server, compiled once per run.
enum FaultLibrary {
    /// The path of the library of disk faults, next to the products of the same build.
    static let path: Result<String, ChildProcess.Failure> = compile("faults")
    /// The path of the library that rebinds a name.
    static let names: Result<String, ChildProcess.Failure> = compile("names")

    private static func compile(_ name: String) -> Result<String, ChildProcess.Failure> {
        let source = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Faults/\(name).c")
        let library = Installation.binary.deletingLastPathComponent().appending(path: "\(name).so").path
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
