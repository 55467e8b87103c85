public import Foundation

/// A program that was not built here, to judge by what was.
public enum ExternalProgram {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - name: as the shell finds it.
    ///   - arguments: what it is told.
    ///   - statuses: exit statuses that are no failure.
    /// - Returns: what it wrote to standard output.
    /// - Throws: ``Failure``, which says what it wrote to standard error.
    public static func run(_ name: String, _ arguments: [String], statuses: Set<Int32> = [0]) throws -> Data {
        let folder = try TemporaryFolder()
        let errors = folder.file("errors")
        try Data().write(to: URL(filePath: errors))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, statuses.contains(process.terminationStatus) else {
            let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
            // 127: there is no such program.
            throw Failure(
                description:
                    "\(name) ended with status \(process.terminationStatus); the README's test command "
                    + "installs what the tests need: \(text.suffix(500))"
            )
        }
        return data
    }
}
