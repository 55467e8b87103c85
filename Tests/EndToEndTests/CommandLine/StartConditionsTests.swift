import Foundation
import Support
import Testing
import afterlink

/// Conditions of the system that a start corrects or tolerates.
@Suite("The conditions of a start", .blocking)
struct StartConditionsTests {
    @Test("a start removes the rights of other users to a database's files, and only warns about the folder")
    func modes() throws {
        let installation = try Installation()
        let path = installation.database.path
        let first = try AfterlinkProcess(installation)
        #expect(try first.connect().click(fingerprint(1)).status == 201)
        // A killed server leaves its log beside the database.
        first.kill()
        for file in [path, path + "-wal", path + "-shm"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: file)
        }
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777],
            ofItemAtPath: installation.folder.path
        )
        let second = try AfterlinkProcess(installation)
        for file in [path, path + "-wal", path + "-shm", path + ".key"] {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(file)")
        }
        second.terminate()
        #expect(second.waitUntilExit() == 0)
        for file in ["afterlink.db", "afterlink.db-wal", "afterlink.db-shm"] {
            #expect(
                installation.log.contains(
                    "users other than its owner could read or change \(installation.folder.path)/\(file) (mode 0664)"
                )
            )
        }
        #expect(installation.log.contains("users other than its owner can change the folder"))
        let mode =
            try FileManager.default.attributesOfItem(atPath: installation.folder.path)[.posixPermissions]
            as? Int
        #expect(mode == 0o777)
    }

    @Test("a start does not mention correct modes")
    func silentModes() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        #expect(!installation.log.contains("other than its owner"))
    }

    @Test(
        "a start warns if the limit of open files allows fewer connections than set, or few by default",
        arguments: [
            (2000, [], "may open only 2000 files and sockets, which allows 1900 connections"),
            (2000, ["--maximum-connections", "2000"], "too few for --maximum-connections 2000"),
            (2000, ["--maximum-connections", "1500"], nil),
        ] as [(Int, [String], String?)]
    )
    func descriptors(limit: Int, arguments: [String], warning: String?) throws {
        let installation = try Installation()
        let log = installation.folder.appending(path: "server.log")
        let command = "ulimit -n \(limit); exec \"$0\" \"$@\""
        let server = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", command, Installation.binary.path, "serve", "--listen", "127.0.0.1:0"]
                + ["--database", installation.database.path, "--threads", "2"] + arguments,
            errorLog: log
        )
        _ = server.line(containing: "listening on")
        server.send(SIGTERM)
        #expect(server.waitUntilExit() == 0)
        if let warning {
            #expect(installation.log.contains(warning))
        } else {
            #expect(!installation.log.contains("files and sockets"))
        }
    }

    @Test(
        "the default number of connections is the number of descriptors for connections, but at most 20000"
    )
    func usualConnections() {
        #expect(Configuration().connectionLimit(descriptors: 19_900) == 19_900)
        #expect(Configuration().connectionLimit(descriptors: 100_000) == 20_000)
        #expect(Configuration().connectionLimit(descriptors: -5) == 1)
    }

    @Test(
        "descriptors are reserved for the files of each event loop",
        arguments: [(1, 100), (8, 100), (32, 244)]
    )
    func reservedDescriptors(threads: Int, count: Int) {
        var configuration = Configuration()
        configuration.threads = threads
        #expect(configuration.reservedDescriptors == count)
    }

    @Test("refused connections stay open only with descriptors that no other use needs")
    func refusedConnections() {
        var configuration = Configuration()
        for (descriptors, limit) in [(-5, 0), (1900, 0), (20_000, 0), (20_100, 100), (100_000, 1024)] {
            #expect(configuration.refusedConnectionLimit(descriptors: descriptors) == limit)
        }
        configuration.maximumConnections = 1500
        for (descriptors, limit) in [(1000, 0), (1900, 400), (100_000, 1024)] {
            #expect(configuration.refusedConnectionLimit(descriptors: descriptors) == limit)
        }
    }

    @Test(
        "`serve` needs no privilege: it works as an unprivileged user in that user's folder",
        .enabled(if: UnprivilegedUser.isPossible)
    )
    func asNobody() throws {
        let account = try UnprivilegedUser()
        let server = try account.serve("127.0.0.1:0")
        let line = server.line(containing: "listening on")
        let port = try #require(line?.split(separator: ":").last.flatMap { UInt16($0) })
        #expect(try HTTPTestClient(port: port).click(fingerprint(1)).status == 201)
        let data = account.dataDirectory
        for file in try FileManager.default.contentsOfDirectory(atPath: data) {
            let found = try FileManager.default.attributesOfItem(atPath: "\(data)/\(file)")
            #expect(found[.ownerAccountID] as? Int == UnprivilegedUser.identifier)
            #expect(found[.posixPermissions] as? Int == 0o600)
        }
    }
}
