internal import Attribution
import Glibc

/// What copying databases asks of files.
extension DatabaseFile {
    static func exists(_ path: String) -> Bool {
        // The path outlives the call.
        unsafe access(path, F_OK) == 0
    }

    /// The path without symbolic links.
    static func resolved(_ path: String) throws(StoreError) -> String {
        // The result is allocated by the call and freed below; nil asks for that.
        guard let resolved = unsafe realpath(path, nil) else { throw failure("finding", path) }
        defer { unsafe free(resolved) }
        // realpath gives a text that ends in a zero.
        return unsafe String(cString: resolved)
    }

    /// Whether both names lead to one file.
    static func isSameFile(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        // Both values outlive the calls.
        guard unsafe stat(path, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Bytes that may still be written to the disk that a folder is on; nil where it does not say.
    static func freeByteCount(inFolder folder: String) -> Int64? {
        var status = statvfs()
        // The value outlives the call.
        guard unsafe statvfs(folder, &status) == 0 else { return nil }
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return free.overflow ? .max : Int64(clamping: free.partialValue)
    }

    /// Names one file twice; false when the second name is taken.
    static func link(_ path: String, as name: String) throws(StoreError) -> Bool {
        // Both paths outlive the call.
        if unsafe Glibc.link(path, name) == 0 { return true }
        guard errno == EEXIST else { throw failure("naming", name) }
        return false
    }

    /// Renames in one step, over whatever has the name.
    static func rename(_ path: String, to name: String) throws(StoreError) {
        // Both paths outlive the call.
        guard unsafe Glibc.rename(path, name) == 0 else { throw failure("naming", name) }
    }

    /// Deletes a file, if it is there.
    static func remove(_ path: String) throws(StoreError) {
        // The path outlives the call.
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("deleting", path) }
    }
}
