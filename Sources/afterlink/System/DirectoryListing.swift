internal import Glibc

/// The names in a directory.
enum DirectoryListing {
    /// Without `.` and `..`; nil when it cannot be read.
    static func names(in path: String) -> [String]? {
        // The stream is closed below; each entry is read before the next one is asked for.
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
