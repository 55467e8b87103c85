internal import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// As far as a process of this user may raise it by itself.
    static var highest: Int {
        var limit = rlimit()
        // The kernel fills the local value.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_max)
    }

    /// The limit of a running process; nil where it is not to be seen.
    static func ofProcess(_ number: Int32) -> Int? {
        guard let bytes = try? OpenFile("/proc/\(number)/limits", O_RDONLY).readAll(limit: 65_536) else {
            return nil
        }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("Max open files")
        }
        return line.flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int($0) }
    }

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
