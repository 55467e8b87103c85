public import Foundation

/// A program from outside the project, with which tests check the project's results.
public enum ExternalProgram {
    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - name: the program's name, which is searched for in `PATH`.
    ///   - arguments: the program's arguments.
    ///   - statuses: exit statuses that do not mean failure.
    /// - Returns: the program's standard output.
    /// - Throws: `ChildProcess.Failure`, with the end of the program's output, if it ends with another status.
    public static func run(_ name: String, _ arguments: [String], statuses: Set<Int32> = [0]) throws -> Data {
        let output = try ChildProcess.run(URL(filePath: "/usr/bin/env"), [name] + arguments)
        guard statuses.contains(output.status) else {
            // Status 127 means that there is no such program.
            throw ChildProcess.Failure(
                description:
                    "\(name) ended with status \(output.status): \(output.errors.suffix(500)) "
                    + "\(output.text.suffix(500)) (The README's test command installs the tests' programs.)"
            )
        }
        return output.standardOutput
    }
}
