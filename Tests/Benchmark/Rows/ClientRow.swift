import CLinux
import Foundation
import Glibc
import Support
import Synchronization

extension Row {
    /// What the first launch of an app with the client library costs.
    static let clientLaunch = Row(
        "client-launch",
        "the first launch of an app with the Swift library, which a click's token matches: time, bytes, disk"
    ) { bench in
        let server = try Server(bench.emptyInstallation(), bench)
        let app = try LaunchingApp(server)
        let relay = try CountingRelay(to: server.port)
        let names = [
            FigureName("first_launch_milliseconds", "a first launch, ms"),
            FigureName("bare_check_milliseconds", "a check on a new connection, ms"),
            FigureName("first_launch_sent_bytes", "bytes that a first launch sends"),
            FigureName("first_launch_received_bytes", "bytes that it receives"),
            FigureName("first_launch_disk_bytes", "bytes that it stores", .atMost(65_536)),
        ]
        return [
            Contest(names: names) { _ in
                var (launches, checks): ([Double], [Double]) = ([], [])
                for _ in 0..<bench.scale.firstLaunches {
                    launches.append(try app.launch(at: server.port).seconds * 1000)
                    let watch = Stopwatch()
                    let request = SampleRequests.check(SampleRequests.unknown, key: server.key)
                    _ = try server.response(to: request)
                    checks.append(watch.microseconds / 1000)
                }
                let before = relay.bytes
                let disk = try app.launch(at: relay.port).disk
                let (sent, received) = relay.bytes
                let bytes = [sent - before.sent, received - before.received, disk].map(Double.init)
                return [launches.median, checks.median] + bytes
            }
        ]
    }
}

/// An app with the library, whose program is beside this one; each launch is the first of a new installation.
private struct LaunchingApp {
    private struct Click: Decodable { let token: String }

    private let server: Server
    private let program = Installation.binary.deletingLastPathComponent().appending(path: "ClientProcess")

    init(_ server: Server) throws {
        self.server = server
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw NotMeasurable(reason: "the product ClientProcess is not built")
        }
    }

    /// Records a click, and starts the app by its link; returns the seconds until the library's answer, and
    /// the bytes on disk.
    func launch(at port: UInt16) throws -> (seconds: Double, disk: Int) {
        let fingerprint =
            SampleRequests.hexadecimal(server.bench.nextSeries()) + String(repeating: "0", count: 56)
        let click = SampleRequests.click(fingerprint, key: server.installation.keys.server)
        let body = Data(try server.response(to: click, status: 201).body.utf8)
        let token = try JSONDecoder().decode(Click.self, from: body).token
        let folder = server.bench.folder.makeFolder("app")
        defer { try? FileManager.default.removeItem(at: folder) }
        let output = try ChildProcess.run(
            program,
            [
                "server=http://127.0.0.1:\(port)", "key=\(server.key)", "folder=\(folder.path)",
                "opened=myapp://promo?al=\(token)", "within=20",
            ]
        )
        let lines = output.text.split(separator: "\n")
        guard lines.contains(where: { $0.hasPrefix("campaign ") }),
            let seconds = lines.first(where: { $0.hasPrefix("seconds ") }).flatMap({ Double($0.dropFirst(8)) }
            )
        else { throw BenchmarkError("The first launch matched nothing: \(output.text) \(output.errors)") }
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { name in
            (name as? String).map { "\(folder.path)/\($0)" }
        }
        let sizes = try (files ?? []).map { path in
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return attributes[.type] as? FileAttributeType == .typeRegular
                ? attributes[.size] as? Int ?? 0 : 0
        }
        return (seconds, sizes.reduce(0, +))
    }
}

/// A TCP relay to a port of this machine that counts the bytes of each direction.
private final class CountingRelay: Sendable {
    let port: UInt16
    private let counts = Mutex((sent: 0, received: 0))

    /// The bytes that clients have sent and received so far.
    var bytes: (sent: Int, received: Int) { counts.withLock { $0 } }

    init(to target: UInt16) throws {
        let listener = Self.socket()
        guard let port = Loopback.listen(listener) else { throw BenchmarkError("No port is free.") }
        self.port = port
        Thread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                let server = Self.socket()
                guard client >= 0, Loopback.connect(server, toPort: target) else { continue }
                forward(from: client, to: server) { [self] count in counts.withLock { $0.sent += count } }
                forward(from: server, to: client) { [self] count in counts.withLock { $0.received += count }
                }
            }
        }.start()
    }

    private static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    /// Forwards on a thread of its own; the sockets stay open until the process ends, because there are few.
    private func forward(from source: Int32, to target: Int32, _ count: @escaping @Sendable (Int) -> Void) {
        Thread {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                // Both calls stay within the array and keep no pointer.
                let length = unsafe buffer.withUnsafeMutableBytes {
                    unsafe recv(source, $0.baseAddress, $0.count, 0)
                }
                guard length > 0 else { break }
                count(length)
                var sent = 0
                while sent < length {
                    let part = unsafe buffer[sent..<length].withUnsafeBytes {
                        unsafe send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard part > 0 else { return }
                    sent += part
                }
            }
            shutdown(target, Int32(SHUT_WR))
        }.start()
    }
}
