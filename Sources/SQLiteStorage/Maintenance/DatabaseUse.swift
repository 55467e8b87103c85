import Glibc

/// Whether another process has a database open.
enum DatabaseUse {
    /// The process that has it open, one of them where there are several; nil when there is none.
    ///
    /// 0 stands for one whose number is not to be seen, as from within a container. Every connection to a database
    /// with a write-ahead log holds a shared lock from its first read until it closes (sqlite.org/wal.html,
    /// section 9).
    ///
    /// To be asked only while this process does not have the database open: closing a file gives up the locks that
    /// the process has on it.
    static func holder(of path: String) -> Int32? {
        // The path outlives the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var lock = flock(
            l_type: Int16(F_WRLCK),
            l_whence: Int16(SEEK_SET),
            l_start: sharedLocks.lowerBound,
            l_len: sharedLocks.count,
            l_pid: 0
        )
        // The kernel writes who is in the way into the local value.
        guard unsafe fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return lock.l_pid
    }

    /// The bytes of a database file that shared locks are on (sqlite.org/lockingv3.html, section 3).
    private static let sharedLocks = 0x4000_0002..<0x4000_0200
}
