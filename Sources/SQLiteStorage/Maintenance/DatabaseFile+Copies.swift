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

    /// Refuses folders, devices, pipes and links, before anything is opened, deleted or renamed over.
    static func refuseUnlessRegular(_ path: String) throws(StoreError) {
        var status = stat()
        // The value outlives the call.
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        throw StoreError(.conflict, "\(path) is there and is not a file")
    }

    /// Whether a file is a database that Afterlink has made (sqlite.org/fileformat2.html, section 1.3).
    static func isOurs(_ path: String) -> Bool {
        // The path outlives the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 72)
        // The buffer holds the bytes that are asked for.
        let count = unsafe header.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count == header.count, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            return false
        }
        return header[68...].reduce(0) { $0 << 8 | Int64($1) } == DatabaseOpening.applicationID
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
