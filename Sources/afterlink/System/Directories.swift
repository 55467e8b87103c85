internal import Glibc

/// A new directory for temporary files.
struct TemporaryDirectory {
    let path: String

    /// Creates the directory below `TMPDIR`, or below /tmp.
    init() throws {
        // The text is copied before anything could change the environment.
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        // mkdtemp(3) replaces the six letters at the end of the name in place.
        let letters = String(repeating: "X", count: 6)
        var template = Array("\(parent)/afterlink-\(letters)".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw CommandFailure.because(SystemError("cannot make a directory in", parent).text + ".")
                .advising("Set TMPDIR to a directory that can be written to.")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Deletes the directory with the files in it.
    func delete() {
        for name in DirectoryListing.names(in: path) ?? [] { TextFile.delete("\(path)/\(name)") }
        // The path is valid during the call.
        _ = unsafe rmdir(path)
    }
}

/// The names in a directory.
enum DirectoryListing {
    /// Returns the names without `.` and `..`; nil if the directory cannot be read.
    static func names(in path: String) -> [String]? {
        // The stream is closed below; each entry is read before the next call of readdir.
        guard let stream = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
