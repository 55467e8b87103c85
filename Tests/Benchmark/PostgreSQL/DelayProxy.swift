#if PostgreSQL
import CLinux
import Foundation
import Glibc
import Support
import Synchronization

/// A TCP proxy that delays what it forwards, as a network between the server and its database does.
struct DelayProxy: Codable {
    let port: UInt16
    let target: UInt16
    /// The delay of each direction.
    let microseconds: UInt64

    /// Starts a proxy of the port `target` in a child process, which ends with the returned process.
    static func start(to target: UInt16, microseconds: UInt64) throws -> (process: ChildProcess, port: UInt16)
    {
        guard let port = Loopback.freePort() else { throw BenchmarkError("No port is free.") }
        let proxy = DelayProxy(port: port, target: target, microseconds: microseconds)
        let process = try LoadProgram.delay.start(proxy)
        guard Polling.until({ (try? RawClient(port: port)) != nil }) else {
            throw BenchmarkError("The proxy does not accept connections.")
        }
        return (process, port)
    }

    /// Forwards connections until the process is killed.
    func run() throws {
        // A real network does not wait for a processor, so the proxy asks for a high priority. If the system
        // refuses it, the proxy's threads may wait while threads of the servers run.
        _ = nice(-20)
        let listener = Self.socket()
        _ = linux_set_option(listener, SOL_SOCKET, SO_REUSEADDR, 1)
        guard Loopback.listen(listener, at: port) != nil else {
            throw BenchmarkError("The proxy cannot listen on port \(port).")
        }
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { continue }
            let server = Self.socket()
            guard Loopback.connect(server, toPort: target) else {
                close(client)
                continue
            }
            for descriptor in [client, server] {
                _ = linux_set_option(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
            }
            forward(from: client, to: server)
            forward(from: server, to: client)
        }
    }

    private static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    /// Starts a thread that reads, and one that writes what was read when its time has come.
    ///
    /// The sockets stay open until the process ends: a proxy has few connections.
    private func forward(from source: Int32, to target: Int32) {
        let (chunks, arrivals) = (Chunks(), DispatchSemaphore(value: 0))
        Thread {
            var buffer = [UInt8](repeating: 0, count: 65536)
            var count = 0
            repeat {
                // The call fills at most the array.
                count = unsafe buffer.withUnsafeMutableBytes {
                    unsafe recv(source, $0.baseAddress, $0.count, 0)
                }
                let chunk = Array(buffer.prefix(max(count, 0)))
                let due = Stopwatch.nanoseconds + microseconds * 1000
                chunks.list.withLock { $0.append((due, chunk)) }
                arrivals.signal()
            } while count > 0
        }.start()
        Thread {
            while true {
                arrivals.wait()
                let (due, chunk) = chunks.list.withLock { $0.removeFirst() }
                let now = Stopwatch.nanoseconds
                if due > now { usleep(UInt32((due - now) / 1000)) }
                var sent = 0
                while sent < chunk.count {
                    // The call reads the rest of the array.
                    let count = unsafe chunk.withUnsafeBytes { bytes in
                        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
                        return unsafe send(target, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { return }
                    sent += count
                }
                if chunk.isEmpty {
                    shutdown(target, Int32(SHUT_WR))
                    return
                }
            }
        }.start()
    }

    /// The chunks of bytes that were read, each with the time at which to write it.
    private final class Chunks: Sendable {
        let list = Mutex<[(due: UInt64, bytes: [UInt8])]>([])
    }
}
#endif
