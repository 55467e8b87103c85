import Attribution
import Foundation
import Support
import Testing

@Suite("The stored data about a person", .blocking)
struct PrivacyTests {
    private static let agent =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2_1 like Mac OS X) AppleWebKit/605.1.15 Version/17.2 "
        + "Mobile/15E148 Safari/604.1 SomebodysOwn/77"
    private static let address = "203.0.113.77"
    private static let otherAddress = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ff01"
    private static let hex = String(repeating: "c7", count: 32)
    private static let install = "Somebodys-Install-77"
    private static let idempotency = "Somebodys-Idempotency-77"

    /// Returns all forms to search for, as bytes: texts and parts of them, binary forms, and unkeyed digests
    /// and their halves.
    private static func traces(_ installation: Installation) -> [(name: String, bytes: [UInt8])] {
        let words: [UInt64] = [0x2001_0db8_aaaa_bbbb, 0xcccc_dddd_eeee_ff01]
        let binary = words.map { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        var traces: [(String, [UInt8])] = [
            ("IPv6 host in binary", binary[1]), ("IPv6 network in binary", binary[0]),
            ("mapped IPv4", [0, 0, 0xFF, 0xFF, 203, 0, 113, 77]),
            ("fingerprint in binary", [UInt8](repeating: 0xC7, count: 32)),
        ]
        let texts = [
            address, "203.0.113", "cb00714d", "3405803853", otherAddress, "2001:db8:aaaa", "ccccddddeeeeff01",
            agent, "AppleWebKit", "SomebodysOwn", "iPhone OS 17", "17_2_1", hex, install, idempotency,
            installation.keys.app, installation.keys.server, installation.keys.admin,
            String(installation.keys.app.dropFirst(4)),
        ]
        for text in texts {
            traces.append((text, Array(text.utf8)))
            traces.append(("\(text) in capitals", Array(text.uppercased().utf8)))
            let digest = KeyDigest(of: text).bytes
            // The database stores the digest of a key.
            guard ![installation.keys.app, installation.keys.server, installation.keys.admin].contains(text)
            else { continue }
            traces.append(("SHA-256 of \(text)", digest))
            traces.append(("half the SHA-256 of \(text)", Array(digest.prefix(8))))
        }
        return traces
    }

    private static func holds(_ data: Data, _ bytes: [UInt8]) -> Bool {
        data.holds(Data(bytes))
    }

    @Test("neither database nor log has an address, user agent, fingerprint, install id or key")
    func traces() throws {
        let installation = try Installation()
        let log = installation.folder.appending(path: "requests.log")
        let server = try AfterlinkProcess(
            installation,
            ["--trusted-proxy", "127.0.0.0/8", "--log-file", log.path, "--log-format", "json"]
        )
        try visit(try server.connect(), installation)
        let traces = Self.traces(installation)
        // The search runs while the write-ahead log is open, and again after it was copied into the
        // database.
        for isStopped in [false, true] {
            if isStopped {
                server.terminate()
                #expect(server.waitUntilExit() == 0)
            }
            for file in try FileManager.default.contentsOfDirectory(atPath: installation.folder.path)
            where !file.hasSuffix(".key") {
                let data = try Data(contentsOf: installation.folder.appending(path: file))
                for trace in traces { #expect(!Self.holds(data, trace.bytes), "\(file) holds \(trace.name)") }
            }
        }
        let database = try Data(contentsOf: installation.database)
        // The search finds a value that must be there.
        #expect(Self.holds(database, Array("SUMMER25".utf8)) && Self.holds(database, Array("17.2".utf8)))
        #expect(Self.holds(database, KeyDigest(of: installation.keys.app).bytes))
        #expect(try String(contentsOf: log, encoding: .utf8).contains(#""outcome":"replay""#))
    }

    /// Sends a click and a launch from each kind of address, and refused requests.
    private func visit(_ connection: HTTPTestClient, _ installation: Installation) throws {
        let signals: [String: Any] = [
            "model": "iPhone", "osVersion": "17.2", "screenWidth": 390, "screenHeight": 844, "pixelRatio": 3,
            "timezone": "Europe/Istanbul", "language": "tr-TR", "touchPoints": 5,
        ]
        for (number, address) in [Self.address, Self.otherAddress].enumerated() {
            let fields = ["X-Forwarded-For": address, "User-Agent": Self.agent]
            let own: [String: Any] = [
                "signals": signals, "idempotency_key": "\(Self.idempotency)-\(number)", "ip_address": address,
                "user_agent": Self.agent,
            ]
            #expect(try connection.click(Self.hex, own, fields: fields).status == 201)
            let secret = fields.merging(["Authorization": "Bearer \(installation.keys.server)"]) { $1 }
            let other = own.merging(["deeplink_url": "myapp://other/item"]) { $1 }
            #expect(try connection.click(Self.hex, other, fields: secret).status == 201)
            #expect(try connection.click(Self.hex, other, fields: secret).status == 200)
            let launch = fields.merging(["X-Install-ID": "\(Self.install)-\(number)"]) { $1 }
            for _ in 0..<2 { #expect(try connection.check(Self.hex, fields: launch).isMatch) }
            #expect(try connection.check(Self.hex, key: "app_wrong", fields: fields).status == 401)
            #expect(
                try connection.get(
                    "/v1/deferred-deeplink?fingerprint=\(Self.hex)&key=\(installation.keys.app)",
                    fields: fields
                ).status == 400
            )
            #expect(try connection.get("/\(Self.hex)/\(Self.address)", fields: fields).status == 404)
        }
    }

    @Test(
        "an erasure leaves nothing that was stored about a person; logs, exports and their states never had any of it"
    )
    func erasure() throws {
        let installation = try Installation()
        let database = installation.database.path
        let log = installation.folder.appending(path: "requests.log")
        let server = try ChildProcess(
            installation.binary,
            [
                "serve", "--listen", "127.0.0.1:0", "--database", database, "--dashboard-listen", "off",
                "--trusted-proxy", "127.0.0.0/8", "--log-file", log.path,
            ],
            errorLog: installation.folder.appending(path: "server.log")
        )
        let line = try #require(server.line(containing: "listening on http"))
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
        let connection = try HTTPTestClient(port: port, key: installation.keys.app)
        for number in 1...20 { #expect(try connection.click(fingerprint(number)).status == 201) }
        try visit(connection, installation)
        let exports = installation.folder.appending(path: "exports")
        func export() throws {
            for table in ExportTable.allCases.map(\.rawValue) {
                let target = ["--to", exports.path, "--state", exports.path + "-\(table).state"]
                let options = ["--format", "ndjson"] + target
                #expect(try installation.run(["export", "--table", table] + options).status == 0)
            }
        }
        try export()
        server.send(SIGTERM)
        #expect(server.waitUntilExit() == 0)
        let traces = Self.traces(installation)
        let output = try server.remainingOutput()
        for trace in traces { #expect(!Self.holds(output, trace.bytes), "the output has \(trace.name)") }

        let stored = try Self.stored(installation)
        #expect(Set(stored.map(\.name)).isSuperset(of: Self.storedColumns), "\(stored.map(\.name))")
        let isLeft = { (value: Stored, files: [Data]) in
            value.forms.contains { form in files.contains { Self.holds($0, form) } }
        }
        let before = try Self.files(installation, ofDatabase: true)
        for value in stored { #expect(isLeft(value, before), "\(value.name) is not found") }
        func holds(_ count: Int) throws -> Bool {
            let row = "{\"table\":\"clicks\",\"rows\":\(count),\"complete\":true,\"oldest\":\"20"
            return try installation.run(["held", "--json"]).text.contains(row)
        }
        #expect(try holds(24) && installation.run(["held"]).text.hasPrefix("TABLE"))
        let erased = try installation.run(["erase", "--fingerprint", Self.hex, "--json"])
        #expect(erased.status == 0 && erased.text.contains(#""log_cleared":true"#), "\(erased.text)")
        #expect(try holds(20))
        try export()
        let after = try Self.files(installation, ofDatabase: true)
        for value in stored { #expect(!isLeft(value, after), "\(value.name) is left") }
        // The data of other people is still there.
        #expect(after.contains { Self.holds($0, Array("SUMMER25".utf8)) })
        let others = try Self.files(installation, ofDatabase: false)
        #expect(others.count > 16)
        for file in others + after {
            for trace in traces { #expect(!Self.holds(file, trace.bytes), "a file has \(trace.name)") }
        }
        for value in stored where value.isHash { #expect(!isLeft(value, others), "a file has \(value.name)") }
    }

    /// The columns with values of a person, all of which must be searched for.
    private static let storedColumns: Set<String> = [
        "visit", "visit_rest", "post", "post_rest", "idempotency", "idempotency_rest", "fingerprints",
        "signals",
        "exact_address", "near_address", "visitor", "install", "install_rest", "caller", "caller_rest",
        "fingerprint",
        "fingerprint_rest", "hash", "hash_rest",
    ]

    /// A stored value, and the forms in which a file may have it.
    private struct Stored {
        let name: String
        let isHash: Bool
        let forms: [[UInt8]]
    }

    /// Returns the values of a person as `afterlink held` shows them, hashes in hexadecimal digits.
    private static func stored(_ installation: Installation) throws -> [Stored] {
        let held = try installation.run(["held", "--fingerprint", hex])
        let json = try #require(try JSONSerialization.jsonObject(with: held.standardOutput) as? [String: Any])
        var stored: [Stored] = []
        for table in ["clicks", "claims", "checks"] {
            for row in try #require(json[table] as? [[String: Any]]) {
                for (name, value) in row where storedColumns.contains(name) {
                    guard let text = value as? String, !text.isEmpty else { continue }
                    guard name != "signals" else {
                        stored.append(Stored(name: name, isHash: false, forms: [Array(text.utf8)]))
                        continue
                    }
                    let bytes = stride(from: 0, to: text.utf8.count, by: 2).compactMap {
                        UInt8(text.dropFirst($0).prefix(2), radix: 16)
                    }
                    #expect(bytes.count * 2 == text.utf8.count && bytes.count >= 8)
                    let forms = [bytes, bytes.reversed(), Array(text.utf8)]
                    stored.append(Stored(name: name, isHash: true, forms: forms))
                }
            }
        }
        return stored
    }

    /// Returns the files of the database, or all other files except the keys.
    private static func files(_ installation: Installation, ofDatabase: Bool) throws -> [Data] {
        try FileManager.default.subpathsOfDirectory(atPath: installation.folder.path)
            .filter { path in
                let isDatabase = path.hasPrefix("afterlink.db") && !path.contains("key")
                return ofDatabase ? isDatabase : !isDatabase && !path.contains("key")
            }
            .compactMap { FileManager.default.contents(atPath: installation.folder.appending(path: $0).path) }
    }

    @Test("`held` and `erase --dry-run` create no file of address keys")
    func readOnly() throws {
        let installation = try Installation()
        let path = installation.database.path + ".address-key"
        try? FileManager.default.removeItem(atPath: path)
        for words in [["held"], ["erase", "--dry-run"]] {
            let output = try installation.run(words + ["--address", "203.0.113.1"])
            #expect(output.status == 0, "\(output.errors)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("the guide says that the stored data is personal and not anonymous")
    func guide() throws {
        let guide = try Repository.text("Sources/afterlink/Afterlink.docc/KeysAndBackups.md")
        #expect(guide.contains("personal data, not anonymous"))
    }
}
