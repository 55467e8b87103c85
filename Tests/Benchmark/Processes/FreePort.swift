import CLinux
import Foundation
import Glibc
import HTTPServer
import Support
import Threads

/// Ports of the loopback address.
enum FreePort {
    /// One that nobody listens on.
    static func find() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw BenchmarkError("No socket can be made: error \(errno).") }
        defer { close(descriptor) }
        let loopback = linux_address(high: 0, low: 0xFFFF_7F00_0001, port: 0)
        guard linux_bind(descriptor, 1, loopback) == 0 else {
            throw BenchmarkError("No port is free: error \(errno).")
        }
        return linux_local_address(descriptor).port
    }

    /// Waits until somebody accepts connections at the port.
    static func waitUntilAnswered(_ port: UInt16, by process: ChildProcess, log: String) throws {
        let end = MonotonicTime.now().advanced(by: .seconds(30))
        while MonotonicTime.now() < end, process.isRunning {
            if (try? RawClient(port: port)) != nil { return }
            usleep(1000)
        }
        let errors = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw BenchmarkError("Nobody answers at port \(port): \(errors.suffix(500))")
    }
}
