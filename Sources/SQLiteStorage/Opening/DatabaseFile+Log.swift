internal import Attribution
import Glibc

/// Bringing the write-ahead log to disk for certain.
extension DatabaseFile {
    private static let chunkByteCount = 1 << 20

    /// Writes the log's bytes over themselves, and syncs it.
    ///
    /// What an earlier sync failed to bring to disk can still be read, but counts as written: no later sync touches
    /// it, and a power cut would leave a hole, with all that was acknowledged later behind it. Written once more, it
    /// is synced like anything new.
    ///
    /// Only for who holds the database's write lock: nobody else changes the log meanwhile.
    func rewriteLog() throws(StoreError) {
        // The path outlives the call. SQLite has no locks on this file that closing it would give up.
        let descriptor = unsafe open(logPath, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw Self.failure("opening", logPath) }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: Self.chunkByteCount)
        var position = 0
        while true {
            // The buffer holds as many bytes as are asked for.
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress, $0.count, position)
            }
            guard count >= 0 else { throw Self.failure("reading", logPath) }
            if count == 0 { break }
            // Of the buffer, what was read.
            let written = unsafe chunk.withUnsafeBytes {
                unsafe pwrite(descriptor, $0.baseAddress, count, position)
            }
            // Less than asked for is read anew; nothing at all would be so for ever.
            guard written > 0 else { throw Self.failure("writing", logPath) }
            position += written
        }
        if position > 0, fsync(descriptor) != 0 { throw Self.failure("syncing", logPath) }
    }
}
