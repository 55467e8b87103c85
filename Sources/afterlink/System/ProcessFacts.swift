internal import Glibc
internal import Server

/// Figures of this process, under the names that Prometheus' own libraries use.
enum ProcessFacts {
    static func samples() -> [ProcessSample] {
        let gauges = [
            ("open_fds", openDescriptorCount(), "Open files and sockets."),
            ("max_fds", DescriptorLimit.current, "Files and sockets that may be open."),
            ("resident_memory_bytes", residentBytes(), "Memory that the process holds."),
        ]
        let known = gauges.compactMap { name, value, help in
            value.map { ProcessSample.gauge("process_\(name)", Double($0), help: help) }
        }
        let help = "Processor time, of the user and of the system."
        return known + [.counter("process_cpu_seconds_total", processorSeconds(), help: help)]
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
