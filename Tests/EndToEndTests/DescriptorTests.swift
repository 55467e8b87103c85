import Foundation
import Support
import Testing

@Suite("Descriptors", .blocking)
struct DescriptorTests {
    @Test("programs that the server starts get none of its descriptors, even after TLS and a rotated log")
    func closeOnExecution() throws {
        let installation = try Installation()
        let log = installation.folder.appending(path: "requests.log")
        let server = try AfterlinkProcess(
            installation,
            ["--log-file", log.path, "--metrics-listen", "127.0.0.1:0"]
                + CertificateFiles(in: installation.folder).arguments
        )
        let inherited = try inheritedSockets(of: server)
        let connection = try server.connect(tls: TLSClientSettings())
        #expect(try connection.click(fingerprint(1)).status == 201)
        #expect(try connection.check(fingerprint(1)).isMatch)
        try expectAllClosed(server, except: inherited)
        try FileManager.default.moveItem(atPath: log.path, toPath: log.path + ".1")
        server.terminate(with: SIGHUP)
        #expect(
            try Polling.until {
                _ = try connection.get("/healthz")
                return FileManager.default.fileExists(atPath: log.path)
            }
        )
        try expectAllClosed(server, except: inherited)
    }

    private func expectAllClosed(_ server: AfterlinkProcess, except inherited: Set<String>) throws {
        let open = try descriptors(of: server).filter { !inherited.contains($0.leadsTo) }
        for kind in ["socket:", "eventpoll", "eventfd", "afterlink.db", "afterlink.db-wal", "requests.log"] {
            #expect(open.contains { $0.leadsTo.contains(kind) }, "\(kind)")
        }
        for descriptor in open where descriptor.number > 2 {
            #expect(descriptor.closesOnExecution, "\(descriptor.number) leads to \(descriptor.leadsTo)")
        }
    }

    /// Returns the sockets of a server without clients, except those that listen.
    ///
    /// The server has inherited these sockets: Foundation learns by one that the process has ended, and another
    /// thread of the tests may open a socket just before the process starts.
    private func inheritedSockets(of server: AfterlinkProcess) throws -> Set<String> {
        var listening: [String] = []
        for table in ["tcp", "tcp6"] {
            let text = try String(contentsOfFile: "/proc/\(server.identifier)/net/\(table)", encoding: .utf8)
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.count > 9, words[3] == "0A" { listening.append("socket:[\(words[9])]") }
            }
        }
        let sockets = try descriptors(of: server).map(\.leadsTo).filter { $0.hasPrefix("socket:") }
        return Set(sockets).subtracting(listening)
    }

    private struct Descriptor {
        let number: Int
        let leadsTo: String
        let closesOnExecution: Bool
    }

    private func descriptors(of server: AfterlinkProcess) throws -> [Descriptor] {
        let process = "/proc/\(server.identifier)"
        return try FileManager.default.contentsOfDirectory(atPath: process + "/fd").compactMap { name in
            guard let number = Int(name),
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(process)/fd/\(name)"
                ),
                let text = try? String(contentsOfFile: "\(process)/fdinfo/\(name)", encoding: .utf8),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("flags:") }),
                let flags = Int(line.dropFirst(6).filter(\.isNumber), radix: 8)
            else { return nil }
            return Descriptor(number: number, leadsTo: target, closesOnExecution: flags & 0o2_000_000 != 0)
        }
    }
}
