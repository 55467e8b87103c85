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
        var status = stat()
        // The kernel fills the local value.
        if unsafe stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        // One of them is the directory's own.
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

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// As far as a process of this user may raise it by itself.
    static var highest: Int { read().map { Int(clamping: $0.rlim_max) } ?? 0 }

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
    static var current: Int? { read().map { Int(clamping: $0.rlim_cur) } }

    private static func read() -> rlimit? {
        var limit = rlimit()
        // The kernel fills the local value.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return limit
    }
}

/// How the process deals with memory that is free again.
enum MemoryAllocator {
    private static let leastLargeBytes: Int32 = 256 << 10
    private static let spareBytes: Int32 = 1 << 20

    /// Gives large blocks back to the system as soon as they are free.
    ///
    /// Else glibc keeps more and more of them, each thread for itself: it stops to return blocks of a size that was
    /// returned once. What a server gathers and forgets every few seconds then leaves holes that are half of its memory.
    static func returnLargeBlocks() { linux_return_large_blocks(leastLargeBytes, spareBytes) }
}
