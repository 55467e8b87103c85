import Foundation
import Support
import Testing

@Suite("afterlink check-domain", .blocking)
struct CheckDomainTests {
    private static let good =
        #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"],"components":[{"/":"/products/*"}]}]}}"#

    private func write(_ text: String, _ name: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test("`check-domain` reports whether a file is valid, and which rule decides on a URL")
    func file() throws {
        let folder = try TemporaryFolder()
        let path = try write(Self.good, "apple-app-site-association", in: folder)
        let output = try Installation.run(["check-domain", path, "--url", "/products/1?x=y#z"])
        #expect(output.status == 0, "\(output.errors)")
        #expect(output.text.contains("\(Self.good.utf8.count) bytes): good"))
        #expect(
            output.text.contains(
                #"ABCDE12345.com.example.app opens it by "/products/*" at applinks.details[0].components[0]"#
            )
        )
        let other = try Installation.run(["check-domain", path, "--url=/other"])
        #expect(other.text.contains("it stays in the browser, no rule fits"))
    }

    @Test("`check-domain` reports each mistake with its position and advice, and exits 1 only for errors")
    func findings() throws {
        let folder = try TemporaryFolder()
        let wrong = try write(Self.good.replacing("ABCDE12345.", with: ""), "aasa", in: folder)
        let output = try Installation.run(["check-domain", wrong])
        #expect(output.status == 1)
        for words in [
            "1 error", "error at applinks.details[0].appIDs[0]", "is no app id.",
            "ABCDE12345.com.example.app.",
        ] { #expect(output.text.contains(words), "\(output.text)") }
        let warned = try write(Self.good.replacing("/products", with: "products"), "warned", in: folder)
        let warning = try Installation.run(["check-domain", warned, "--json"])
        #expect(warning.status == 0)
        #expect(
            warning.text.contains(#""severity": "warning""#) && warning.text.contains(#""rule": "path_form""#)
        )
        let list = try write("[]", "assetlinks.json", in: folder)
        #expect(try Installation.run(["check-domain", list]).text.hasPrefix("assetlinks.json ("))
        let here = try Installation.run(["check-domain", "assetlinks.json"], in: folder.path)
        #expect(here.text.hasPrefix("assetlinks.json (assetlinks.json, 2 bytes)"), "\(here.errors)")
    }

    @Test("a file cannot add lines to the output or steer the terminal")
    func hostileText() throws {
        let folder = try TemporaryFolder()
        let forged = "\\naasa (x, 1 bytes): good\\u001b[2J\\u009b2J"
        let path = try write(Self.good.replacing("ABCDE12345.", with: forged), "aasa", in: folder)
        let output = try Installation.run(["check-domain", path, "--url", "/x"])
        #expect(output.status == 1)
        #expect(!output.text.split(separator: "\n").contains { $0.hasPrefix("aasa (x") }, "\(output.text)")
        #expect(!output.text.unicodeScalars.contains { $0.value == 0x1b || $0.value == 0x9b })
    }

    @Test(
        "`check-domain` fetches a host's files over TLS, only with a trusted certificate and from an allowed address"
    )
    func host() throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate("localhost")
        let roots = try write(
            String(decoding: certificate.certificate, as: UTF8.self),
            "roots.pem",
            in: folder
        )
        let server = try RawTLSServer(certificate) { connection in
            let isApple = connection.readHead().contains("apple-app-site-association")
            let body = isApple ? Self.good : "[]"
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
        }
        let host = "localhost:\(server.port)"
        let output = try Installation.run([
            "check-domain", host, "--url", "/products/1", "--roots", roots, "--allow-private",
        ])
        #expect(output.status == 1, "the other file contains no statement: \(output.errors)")
        #expect(output.text.contains("https://\(host)/.well-known/apple-app-site-association"))
        #expect(output.text.contains("ABCDE12345.com.example.app opens it"))
        #expect(output.text.contains("The file contains no statement"))
        let single = try Installation.run([
            "check-domain", "https://\(host)/.well-known/apple-app-site-association", "--roots", roots,
            "--allow-private",
        ])
        #expect(single.status == 0, "\(single.text)")
        let inside = try Installation.run(["check-domain", host, "--roots", roots])
        #expect(inside.status == 1 && inside.text.contains("inside a network"))
        let untrusted = try Installation.run(["check-domain", host, "--allow-private"])
        #expect(untrusted.status == 1 && untrusted.text.contains("self-signed"))
    }

    @Test(
        "a wrong argument of `check-domain` exits 1 or 2, with an explanation",
        arguments: [
            (["check-domain"], 2), (["check-domain", "a b"], 2), (["check-domain", "https://"], 2),
            (["check-domain", "http://a.example"], 2), (["check-domain", "/no/such/file"], 1),
            (["check-domain", "a.example", "--url", "x"], 2),
            (["check-domain", "a.example", "--roots", "/none"], 2),
        ] as [([String], Int32)]
    )
    func wrongUse(words: [String], status: Int32) throws {
        let output = try Installation.run(words)
        #expect(output.status == status, "\(output.errors)")
        #expect(output.errors.hasPrefix("afterlink: "))
    }
}
