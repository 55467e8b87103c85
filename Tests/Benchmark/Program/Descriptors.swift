import Glibc

/// How many files this process and its children may have open.
enum Descriptors {
    /// Raises the limit as far as the process may by itself: ten thousand connections need as many.
    static func raiseLimit() {
        var limit = rlimit()
        // The kernel fills the local value, and reads it in the second call.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
