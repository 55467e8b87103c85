internal import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// Raises the limit as far as the process may by itself: shells leave it at 1,024, which is less than the
    /// connections that a service holds.
    ///
    /// - Returns: the limit now.
    @discardableResult
    static func raise() -> Int {
        guard var limit = read() else { return 0 }
        limit.rlim_cur = limit.rlim_max
        // The kernel reads the local value; where it refuses, the old limit stays.
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return current ?? 0
    }

    /// The limit now; nil where the system does not say.
    static var current: Int? {
        read().map { Int(clamping: $0.rlim_cur) }
    }

    private static func read() -> rlimit? {
        var limit = rlimit()
        // The kernel fills the local value.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return limit
    }
}
