internal import CLinux
internal import Glibc
internal import Server

/// Figures of this process, under the names that Prometheus' own libraries use.
enum ProcessFacts {
    static func samples() -> [MetricFamily] {
        let gauges = [
            ("open_fds", openDescriptorCount(), "Open files and sockets."),
            ("max_fds", DescriptorLimit.current, "Files and sockets that may be open."),
            ("resident_memory_bytes", residentBytes(), "Memory that the process holds."),
        ]
        let known = gauges.compactMap { name, value, help in
            value.map { MetricFamily.gauge("process_\(name)", help, Double($0)) }
        }
        let help = "Processor time, of the user and of the system."
        return known + [.counter("process_cpu_seconds_total", help, processorSeconds())]
    }

    /// Linux reports the number as the directory's size since 6.2; on older kernels, the names are counted.
    private static func openDescriptorCount() -> Int? {
        if let found = TextFile.status(of: "/proc/self/fd"), found.st_size > 0 { return Int(found.st_size) }
        // One of the names is the descriptor of the directory itself.
        return DirectoryListing.names(in: "/proc/self/fd").map { $0.count - 1 }
    }

    private static func residentBytes() -> Int? {
        guard let bytes = try? OpenFile("/proc/self/statm", O_RDONLY).readAll(limit: 4096) else { return nil }
        let words = bytes.split(separator: UInt8(ascii: " "))
        guard words.count > 1, let pages = Int(String(decoding: words[1], as: UTF8.self)) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func processorSeconds() -> Double {
        var reading = timespec()
        // The kernel fills the local value.
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &reading)
        return Double(reading.tv_sec) + Double(reading.tv_nsec) / 1_000_000_000
    }
}

/// The limit of open files and sockets of a process.
enum DescriptorLimit {
    /// The highest limit that a process of this user may set.
    static var highest: Int { read().map { Int(clamping: $0.rlim_max) } ?? 0 }

    /// Returns the limit of a running process; nil if this user may not read it.
    static func ofProcess(_ number: Int32) -> Int? {
        guard let bytes = try? OpenFile("/proc/\(number)/limits", O_RDONLY).readAll(limit: 65_536) else {
            return nil
        }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("Max open files")
        }
        return line.flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int($0) }
    }

    /// Raises the limit to ``highest``: shells set it to 1,024, fewer than the connections of a service.
    ///
    /// - Returns: the new limit.
    @discardableResult
    static func raise() -> Int {
        guard var limit = read() else { return 0 }
        limit.rlim_cur = limit.rlim_max
        // The kernel reads the local value; if it refuses, the old limit stays.
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return current ?? 0
    }

    /// The current limit; nil if the system does not report it.
    static var current: Int? { read().map { Int(clamping: $0.rlim_cur) } }

    private static func read() -> rlimit? {
        var limit = rlimit()
        // The kernel fills the local value.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return limit
    }
}

/// The settings of glibc's allocator.
enum MemoryAllocator {
    private static let minimumLargeBytes: Int32 = 256 << 10
    private static let spareBytes: Int32 = 1 << 20

    /// Returns large blocks to the system as soon as they are free.
    ///
    /// By default, once glibc has freed a large block, it allocates later blocks of up to that size in the arenas of
    /// the threads, and no longer returns them to the system. Memory that a server allocates and frees every few
    /// seconds then leaves unused holes, which take up to half of the server's memory.
    static func returnLargeBlocks() { linux_return_large_blocks(minimumLargeBytes, spareBytes) }
}
