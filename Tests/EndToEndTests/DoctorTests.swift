import Attribution
import Foundation
import SQLite
import Support
import Testing
import afterlink

@Suite("The command doctor", .blocking)
struct DoctorTests {
    private func lines(_ output: ChildProcess.Output, _ name: String) -> [String] {
        output.text.split(separator: "\n").map(String.init).filter { line in
            line.drop { $0 != " " }.drop { $0 == " " }.hasPrefix(name + ":")
        }
    }

    private func doctor(_ installation: Installation, _ words: [String] = []) throws -> ChildProcess.Output {
        let all = ["doctor", "--listen", "127.0.0.1:0"] + words
        return try installation.run(words.contains("--listen") ? ["doctor"] + words : all)
    }

    @Test("`doctor` finds no problem in a fresh installation, and prints no secret")
    func fresh() throws {
        let installation = try Installation()
        try setMode(0o700, of: installation.folder.path)
        let secret = "a-secret-that-stays-hidden-1234567890"
        let output = try installation.run(
            ["doctor", "--listen", "127.0.0.1:0"],
            environment: ["AFTERLINK_INITIAL_APP_KEY": secret, "AFTERLINK_RETENTION": "3600"]
        )
        #expect(output.status == 0, "\(output.text)")
        #expect(!output.text.contains(secret))
        let key = try String(contentsOfFile: installation.database.path + ".key", encoding: .utf8)
        #expect(!output.text.contains(key.prefix(32)))
        #expect(lines(output, "settings").contains { $0.contains("initial-app-key is set (not shown)") })
        #expect(
            lines(output, "settings").contains { $0.contains("retention is 3600, from AFTERLINK_RETENTION") }
        )
        #expect(lines(output, "versions").first?.contains("SQLite 3.") == true)
        #expect(lines(output, "versions").first?.contains("OpenSSL") == true)
        for name in [
            "database", "disk", "wal", "server_key", "keys", "clock", "service", "modes", "durability",
        ] {
            #expect(lines(output, name).allSatisfy { $0.hasPrefix("ok ") }, "\(lines(output, name))")
            #expect(!lines(output, name).isEmpty, "\(name)")
        }
        #expect(lines(output, "destinations").first?.hasPrefix("warning") == true)
    }

    @Test("`doctor` names files and folders that other users can reach, with the chmod that repairs them")
    func modes() throws {
        let installation = try Installation()
        try setMode(0o755, of: installation.folder.path)
        try setMode(0o644, of: installation.database.path)
        let output = try doctor(installation)
        #expect(output.status == 1)
        #expect(lines(output, "modes").contains { $0.hasSuffix("chmod 600 \(installation.database.path)") })
        #expect(lines(output, "modes").contains { $0.hasSuffix("chmod 700 \(installation.folder.path)") })
    }

    @Test("`doctor` names the folder of a server key elsewhere if other users can change it")
    func keyFolder() throws {
        let installation = try Installation()
        let folder = installation.folder.appending(path: "keys").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let key = folder + "/server.key"
        try FileManager.default.moveItem(atPath: installation.database.path + ".key", toPath: key)
        for (mode, isNamed) in [(0o755, false), (0o775, true), (0o1777, false)] {
            try setMode(mode, of: folder)
            let output = try doctor(installation, ["--server-key-file", key])
            let found = lines(output, "modes").contains { $0.hasSuffix("chmod go-w \(folder)") }
            #expect(found == isNamed, "\(output.text)")
        }
    }

    @Test("`doctor` prints a proxy's settings for Apple's postbacks as indented lines, once for all problems")
    func proxySettings() throws {
        let installation = try Installation()
        // No probe is sent to an address of this machine.
        let changed = try installation.run(["apps", "set", "--apple-postback-host", "localhost"])
        #expect(changed.status == 0, "\(changed.errors)")
        let output = try doctor(installation)
        #expect(lines(output, "apple-postbacks").count == 2 && !output.text.contains("?    "))
        let settings = output.text.components(separatedBy: "\n    nginx:\n    location ~ ")
        #expect(settings.count == 2, "\(output.text)")
        #expect(output.text.contains("\n        proxy_ssl_server_name on;\n"))
    }

    @Test("`doctor` validates the domain files that the service generates, and fetches none")
    func domainFiles() throws {
        let installation = try Installation()
        #expect(lines(try doctor(installation), "domain_files").isEmpty, "no app has a link host")
        let host = try installation.run(["apps", "set", "--link-host", "go.shop.invalid"])
        #expect(host.status == 0, "\(host.errors)")
        let empty = lines(try doctor(installation), "domain_files")
        #expect(empty.count == 1 && empty.first?.hasPrefix("warning ") == true, "\(empty)")
        #expect(empty.first?.contains("go.shop.invalid name no app") == true, "\(empty)")
        let apple = ["--ios-team", "ABCDE12345", "--ios-bundle", "com.example.shop"]
        let app = try installation.run(["apps", "set"] + apple)
        #expect(app.status == 0, "\(app.errors)")
        let fine = lines(try doctor(installation), "domain_files")
        #expect(fine.count == 1 && fine.first?.hasPrefix("ok ") == true, "\(fine)")
        let rules = ["--link-rule", "/products/*", "--link-rule", "/products/1"]
        #expect(try installation.run(["apps", "set"] + rules).status == 0)
        let wrong = lines(try doctor(installation), "domain_files")
        #expect(wrong.count == 1 && wrong.first?.hasPrefix("warning ") == true, "\(wrong)")
        let file = "go.shop.invalid/.well-known/apple-app-site-association applinks.details[0].components["
        #expect(wrong.first?.contains(file) == true, "\(wrong)")
        #expect(wrong.first?.contains("The rule never applies") == true, "\(wrong)")
    }

    @Test("`doctor` names files by their full paths, from any folder")
    func fullPaths() throws {
        let installation = try Installation()
        try setMode(0o755, of: installation.folder.path)
        let output = try Installation.run(
            ["-c", "cd \"$0\" && exec \"$@\"", installation.folder.path, Installation.binary.path]
                + ["doctor", "--listen", "127.0.0.1:0"],
            of: URL(fileURLWithPath: "/bin/sh")
        )
        let folder = installation.folder.resolvingSymlinksInPath().path
        #expect(lines(output, "modes").contains { $0.hasSuffix("chmod 700 \(folder)") }, "\(output.text)")
        #expect(lines(output, "database").contains { $0.contains("\(folder)/afterlink.db: schema") })
        #expect(lines(output, "server_key").contains { $0.contains("\(folder)/afterlink.db.key contains") })
    }

    @Test("a server key that is open to others, missing or wrong is a problem")
    func serverKey() throws {
        let installation = try Installation()
        let path = installation.database.path + ".key"
        try setMode(0o640, of: path)
        #expect(try lines(doctor(installation), "server_key").first?.contains("chmod 600") == true)
        try setMode(0o600, of: path)
        let own = try String(contentsOfFile: path, encoding: .utf8).filter { $0 != "\n" }
        try FileHandle(forWritingTo: URL(fileURLWithPath: path)).write(
            contentsOf: Data(String(own.reversed()).utf8)
        )
        let wrong = try doctor(installation)
        #expect(wrong.status == 1)
        #expect(lines(wrong, "server_key").first?.contains("is not the key") == true)
        try FileManager.default.removeItem(atPath: path)
        #expect(try lines(doctor(installation), "server_key").first?.hasPrefix("problem") == true)
    }

    @Test("`doctor` reports whether the service runs on the database and responds at its address")
    func service() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let here = "127.0.0.1:\(server.port)"
        let well = try doctor(installation, ["--listen", here])
        #expect(
            lines(well, "service").first?.contains("process \(server.identifier) has the database open")
                == true
        )
        #expect(lines(well, "service").first?.contains("return 200") == true)
        #expect(lines(well, "descriptors").first?.contains("the running process may open") == true)
        // No server listens on this port. The server's port is tried below, after the server has stopped.
        let elsewhere = try doctor(installation, ["--listen", "127.0.0.2:1"])
        #expect(elsewhere.status == 1)
        #expect(lines(elsewhere, "service").first?.contains("no server responds at 127.0.0.2:1") == true)

        let other = try Installation()
        let stranger = try doctor(other, ["--listen", here])
        #expect(lines(stranger, "service").first?.hasPrefix("warning") == true)
        server.kill()
        let none = try doctor(installation, ["--listen", here])
        #expect(lines(none, "service").first?.contains("no service runs on the database") == true)
    }

    @Test("`doctor` shows hop by hop how a request gets its client address")
    func request() throws {
        let output = try doctor(
            Installation(),
            [
                "--trusted-proxy", "10.0.0.0/8", "--request-from", "10.0.0.7", "--forwarded-for",
                "6.6.6.6, 203.0.113.9, 10.0.0.3",
            ]
        )
        #expect(
            lines(output, "request") == [
                "ok       request: 10.0.0.7 is connected, a trusted proxy: its headers are read",
                "ok       request: X-Forwarded-For: 10.0.0.3, a trusted proxy, too: reading continues to the left",
                "ok       request: X-Forwarded-For: 203.0.113.9, not a trusted proxy: this is the client",
                "ok       request: X-Forwarded-For: 6.6.6.6, not read: any client could write it",
                "ok       request: the client address is 203.0.113.9",
            ]
        )
        let stranger = try doctor(
            Installation(),
            ["--request-from", "203.0.113.9", "--forwarded", "for=198.51.100.1"]
        )
        #expect(lines(stranger, "request").first?.hasPrefix("warning") == true)
        #expect(lines(stranger, "request").last?.hasSuffix("the client address is 203.0.113.9") == true)
        #expect(try doctor(Installation(), ["--request-from", "nowhere"]).status == 2)
        #expect(try doctor(Installation(), ["--forwarded-for", "203.0.113.9"]).status == 2)
    }

    @Test("a database whose tables are of a much older version is not reported as broken")
    func olderVersion() throws {
        let installation = try Installation()
        do {
            let connection = try installation.open()
            // The third migration added the column.
            try connection.execute("ALTER TABLE apps DROP COLUMN click_ids")
            try connection.execute("DELETE FROM migrations WHERE number > 2")
            try connection.execute("PRAGMA user_version = 2")
        }
        let found = try lines(doctor(installation), "database").first ?? ""
        #expect(found.hasPrefix("warning") && found.contains("older version; it lacks 0003_"), "\(found)")
        #expect(found.contains("`afterlink migrate`"), "\(found)")
        let path = installation.database.path
        #if PostgreSQL
        let moves = [["migrate", "--from", "sqlite:" + path, "--to", "postgres://nobody@127.0.0.1:1/none"]]
        #else
        let moves: [[String]] = []
        #endif
        for words in moves + [["server-key", "rotate", "--database", path]] {
            let output = try Installation.run(words)
            #expect(output.status == 1)
            #expect(output.errors.contains("is of an older version"), "\(words): \(output.errors)")
        }
    }

    @Test("`doctor` reports a broken database, wrong settings, and a missing database")
    func problems() throws {
        let installation = try Installation()
        let relaxed = try doctor(
            installation,
            ["--durability", "relaxed", "--maximum-connections", "1000000"]
        )
        #expect(lines(relaxed, "durability").first?.hasPrefix("warning") == true)
        #expect(lines(relaxed, "descriptors").first?.hasPrefix("warning") == true)
        let wrong = try doctor(installation, ["--durability", "none"])
        #expect(wrong.status == 78)

        let json = try doctor(installation, ["--json"])
        let parsed = try #require(JSONSerialization.jsonObject(with: json.standardOutput) as? [String: Any])
        #expect(parsed["ok"] as? Bool == true)

        try Data("no database, but a letter of some length".utf8).write(to: installation.database)
        let broken = try doctor(installation)
        #expect(broken.status == 1)
        #expect(lines(broken, "database").first?.hasPrefix("problem") == true)
        try FileManager.default.removeItem(at: installation.database)
        #expect(try lines(doctor(installation), "database").first?.hasPrefix("warning") == true)
    }
}

@Suite("The findings of doctor")
struct ExaminationTests {
    private let now = Timestamp(milliseconds: 1_790_000_000_000)
    private let day: Int64 = 86_400_000

    private func key(
        _ kind: KeyKind,
        age: Int64,
        used: Int64? = 0,
        expiresIn: Int64? = nil,
        isRevoked: Bool = false
    ) throws -> APIKey {
        APIKey(
            id: KeyID(high: UInt64(age), low: UInt64(kind.rawValue.count)),
            kind: kind,
            app: nil,
            label: "phone",
            digest: try #require(KeyDigest(bytes: Array(repeating: 1, count: 32))),
            createdAt: now.advanced(byMilliseconds: -age * day),
            expiresAt: expiresIn.map { now.advanced(byMilliseconds: $0 * day) },
            revokedAt: isRevoked ? now : nil,
            lastUsedAt: used.map { now.advanced(byMilliseconds: -$0 * day) }
        )
    }

    @Test("`doctor` warns of keys that are old, unused, expired or soon expire, and of several admin keys")
    func keys() throws {
        func diagnoses(_ keys: APIKey...) -> [Diagnosis] { KeyExamination.diagnoses(keys, at: now) }
        let app = try key(.app, age: 10)
        #expect(diagnoses(app, try key(.admin, age: 300)).map(\.status) == [.ok])
        for (kind, says) in [
            (try key(.server, age: 400), "is 400 days old"),
            (try key(.server, age: 40, used: nil), "was never used in 40 days"),
            (try key(.server, age: 40, expiresIn: -1), "expired at"),
            (try key(.server, age: 40, expiresIn: 3), "expires at"),
        ] {
            let found = diagnoses(app, kind)
            #expect(found.map(\.status) == [.warning] && found[0].text.contains(says), "\(says): \(found)")
            #expect(found[0].advice != nil)
        }
        #expect(diagnoses(app, try key(.server, age: 400, isRevoked: true)).map(\.status) == [.ok])
        let admins = diagnoses(app, try key(.admin, age: 1), try key(.admin, age: 2))
        #expect(admins.first?.text.contains("2 admin keys are valid") == true)
        #expect(diagnoses(try key(.admin, age: 1)).map(\.status) == [.problem])
    }

    @Test("a clock in an impossible year, or behind the newest record, is a problem")
    func clock() {
        func status(_ now: Timestamp, click: Timestamp? = nil, file: Timestamp? = nil) -> Diagnosis.Status? {
            Diagnosis.clock(now, newestClickAt: click, newestFileAt: file).status
        }
        #expect(status(now) == .ok)
        #expect(status(now, click: now.advanced(byMilliseconds: 200_000), file: now) == .ok)
        #expect(status(now, click: now.advanced(byMilliseconds: 400_000)) == .problem)
        #expect(status(now, file: now.advanced(byMilliseconds: day)) == .problem)
        #expect(status(Timestamp(milliseconds: 500_000_000_000)) == .problem)
        #expect(status(Timestamp(milliseconds: 5_000_000_000_000)) == .problem)
    }

    @Test("a certificate is a warning three weeks before it expires, and a problem once it has expired")
    func certificate() {
        func status(daysLeft: Int64) -> Diagnosis.Status {
            let expiresAt = now.advanced(byMilliseconds: daysLeft * day)
            return Diagnosis.certificate("tls.pem", expiresAt: expiresAt, at: now).status
        }
        #expect(status(daysLeft: 90) == .ok)
        #expect(status(daysLeft: 20) == .warning)
        #expect(status(daysLeft: 0) == .problem)
        #expect(status(daysLeft: -1) == .problem)
    }

    @Test("a certificate is read from its file, and a certificate that does not fit its key is a problem")
    func certificateFile() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(validUntil: 40 * 86_400)
        for (name, content) in [
            ("tls.pem", certificate.certificate), ("key.pem", certificate.key),
            ("other.pem", try TestCertificate().key), ("text.pem", Array("no certificate".utf8)),
        ] {
            try Data(content).write(to: URL(fileURLWithPath: folder.file(name)))
            try setMode(0o600, of: folder.file(name))
        }
        let moment = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        func status(_ certificate: String, _ key: String, in days: Int64 = 0) throws -> Diagnosis.Status {
            var configuration = Configuration()
            configuration.tlsCertificate = folder.file(certificate)
            configuration.tlsKey = folder.file(key)
            let files = try #require(TLSFiles(configuration))
            let now = moment.advanced(byMilliseconds: days * day)
            return Diagnosis.certificate(files, at: now).status
        }
        #expect(try status("tls.pem", "key.pem") == .ok)
        #expect(try status("tls.pem", "key.pem", in: 30) == .warning)
        #expect(try status("tls.pem", "other.pem") == .problem)
        #expect(try status("text.pem", "key.pem") == .problem)
        #expect(try status("none.pem", "key.pem") == .problem)
    }

    @Test(
        "a disk that fills up is reported with the days that are left, and a log that does not shrink is reported"
    )
    func disk() {
        func diagnoses(free: Int64?, ofLastDay: Int64?, log: Int64 = 0) -> [Diagnosis] {
            let disk = Diagnosis.disk(
                freeBytes: free,
                databaseBytes: 1_000_000_000,
                clicks: 1_000_000,
                clicksOfLastDay: ofLastDay
            )
            return [disk, .log(bytes: log, besideDatabaseOf: 1_000_000_000)]
        }
        let million: Int64 = 1_000_000
        #expect(diagnoses(free: 100_000 * million, ofLastDay: 1_000_000).map(\.status) == [.ok, .ok])
        #expect(diagnoses(free: 100_000 * million, ofLastDay: 1_000_000)[0].text.contains("100 days"))
        #expect(diagnoses(free: 5000 * million, ofLastDay: 1_000_000)[0].status == .warning)
        #expect(diagnoses(free: 900 * million, ofLastDay: 1_000_000)[0].status == .problem)
        #expect(diagnoses(free: 50 * million, ofLastDay: nil)[0].status == .problem)
        #expect(diagnoses(free: 900 * million, ofLastDay: nil)[0].status == .warning)
        #expect(diagnoses(free: 5000 * million, ofLastDay: nil)[0].status == .ok)
        #expect(diagnoses(free: nil, ofLastDay: nil)[0].status == .warning)
        #expect(diagnoses(free: 5000 * million, ofLastDay: nil, log: 500 * million)[1].status == .warning)
    }
}
