import Foundation

/// This program, as a file: loads are started from it, and the server's lies beside it.
enum OwnProgram {
    static func path() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    /// A file beside it.
    static func sibling(_ name: String) throws -> String {
        URL(fileURLWithPath: try path()).deletingLastPathComponent().appending(path: name).path
    }
}
