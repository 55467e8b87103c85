import Foundation
import Support
import Testing

@Suite("Certificate and key files", .blocking)
struct CertificateFileTests {
    private func serve(_ arguments: [String]) throws -> ChildProcess.Output {
        let folder = try TemporaryFolder()
        let output = try Installation.run(
            ["serve", "--listen", "127.0.0.1:0", "--data-directory", folder.path] + arguments
        )
        let made = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(made.isEmpty, "no file is created and no key printed if TLS cannot be served")
        return output
    }

    @Test(
        "a certificate without a key, or a key without a certificate, is refused",
        arguments: ["--tls-certificate", "--tls-key"]
    )
    func alone(flag: String) throws {
        let other = flag == "--tls-key" ? "--tls-certificate" : "--tls-key"
        let output = try serve([flag, "/some/file"])
        #expect(output.status == 78)
        #expect(output.errors.contains("\(flag) \"/some/file\" needs \(other) with it"))
    }

    @Test("a start with an unusable file fails with the file's name and advice")
    func refusals() throws {
        let good = try TestCertificate()
        let encrypted = try TestCertificate(password: "secret")
        let weak = try TestCertificate("weak", .rsa(bits: 1024))
        let hello = Array("hello".utf8)
        let folder = try TemporaryFolder()
        for (certificate, key, file, words) in [
            (hello, good.key, "chain.pem", "holds no certificate in PEM"),
            (good.key, good.key, "chain.pem", "holds no certificate in PEM"),
            (good.certificate, hello, "key.pem", "holds no private key in PEM"),
            (encrypted.certificate, encrypted.key, "key.pem", "is encrypted"),
            (good.certificate, try TestCertificate().key, "key.pem", "does not belong to the certificate"),
            (weak.certificate, weak.key, "chain.pem", "cannot be used"),
        ] {
            let files = try CertificateFiles(in: folder.url)
            try files.write(certificate, to: files.certificate)
            try files.write(key, to: files.key)
            let output = try serve(files.arguments)
            #expect(output.status == 78)
            #expect(output.errors.contains(words) && output.errors.contains(file), "\(output.errors)")
            #expect(output.errors.split(separator: "\n").count == 2, "the problem and the advice")
        }
    }

    @Test("a start with a missing file, a directory, or a key that others can read fails")
    func outOfReach() throws {
        let installation = try Installation()
        let files = try CertificateFiles(in: installation.folder)
        for (arguments, words) in [
            (["--tls-certificate", "/nowhere/a.pem", "--tls-key", files.key], "cannot open /nowhere/a.pem"),
            (
                ["--tls-certificate", files.certificate, "--tls-key", "/nowhere/b.pem"],
                "cannot open /nowhere/b.pem"
            ),
            (["--tls-certificate", "/tmp", "--tls-key", files.key], "cannot read /tmp"),
        ] {
            let output = try serve(arguments)
            #expect(output.status == 78 && output.errors.contains(words), "\(output.errors)")
        }
        let content = Array(try Data(contentsOf: URL(fileURLWithPath: files.key)))
        for mode in [0o644, 0o602, 0o660, 0o601] {
            try files.write(content, to: files.key, mode: mode)
            let output = try serve(files.arguments)
            #expect(output.status == 78 && output.errors.contains("chmod 600 \(files.key)"))
        }
        guard getuid() == 0 else { return }
        // Root may share a key with a group, as the system's own packages do.
        try files.write(content, to: files.key, mode: 0o640)
        let server = try AfterlinkProcess(installation, files.arguments)
        _ = try server.connect(tls: TLSClientSettings())
        server.kill()
    }

    @Test(
        "a certificate that is expired, not yet valid, or nearly expired is served with a warning",
        arguments: [
            (from: -7_200, until: -3_600, words: "expired at"),
            (from: 3_600, until: 90 * 86_400, words: "is valid from"),
            (from: -3_600, until: 13 * 86_400, words: "expires at"),
            (from: -3_600, until: 15 * 86_400, words: nil),
        ] as [(from: Int, until: Int, words: String?)]
    )
    func warnings(from: Int, until: Int, words: String?) throws {
        let installation = try Installation()
        let files = try CertificateFiles(in: installation.folder)
        try files.replace(with: TestCertificate(validFrom: from, validUntil: until))
        let server = try AfterlinkProcess(installation, files.arguments)
        _ = try server.connect(tls: TLSClientSettings()).get("/healthz")
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        if let words {
            #expect(installation.log.contains("the certificate \(words)"))
        } else {
            #expect(!installation.log.contains("the certificate"))
        }
    }
}
