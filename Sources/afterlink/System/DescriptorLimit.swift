internal import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// Raises the limit as far as the process may by itself: shells leave it at 1,024, which is less than the
    /// connections that a service holds.
    ///
    /// - Returns: the limit now.
    @discardableResult
    static func raise() -> Int {
        var limit = rlimit()
        // The kernel fills the local value, and reads it in the second call.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        limit.rlim_cur = limit.rlim_max
        // Where it is refused, the old limit stays.
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
