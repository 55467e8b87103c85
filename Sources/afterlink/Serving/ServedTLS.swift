internal import Attribution
internal import Glibc
internal import HTTPServer
internal import Server

/// The TLS of a running service: its files, and the certificate that was read from them.
struct ServedTLS: Sendable {
    let termination: TLSTermination
    private let files: TLSFiles

    /// The log warns of a certificate that expires within this number of days.
    private static let warningDays: Int64 = 14

    /// Reads the files; nil for plain HTTP.
    ///
    /// - Throws: if the certificate or the key cannot be used.
    init?(_ configuration: Configuration) throws {
        guard let files = TLSFiles(configuration) else { return nil }
        self.files = files
        termination = try files.makeTermination()
    }

    /// Reloads the files, or keeps the current certificate if they cannot be used; logs the result.
    func reload(_ log: Log) {
        do {
            let isNew = try files.reload(termination)
            let subject =
                isNew ? "new connections get the new certificate" : "the certificate is the same as before"
            log.event(.info, "\(subject), valid until \(Self.text(termination.certificate.notAfter))")
            warn(log)
        } catch {
            let failure = CommandFailure(describing: error)
            log.event(
                .error,
                "the certificate was not changed, and the one before stays in use: \(failure.explanation)"
                    + " \(failure.advice)"
            )
        }
    }

    /// Logs a warning if clients refuse the certificate, or soon will.
    func warn(_ log: Log) {
        let certificate = termination.certificate
        let now = WallClock.system.now().milliseconds / 1000
        let end = Self.text(certificate.notAfter)
        let warning: String
        if now > certificate.notAfter {
            warning = "expired at \(end), so that clients refuse it: renew it, then SIGHUP"
        } else if now < certificate.notBefore {
            let start = Self.text(certificate.notBefore)
            warning = "is valid from \(start) only, and clients refuse it until then"
        } else if now > certificate.notAfter - Self.warningDays * 86_400 {
            warning = "expires at \(end): renew it, then SIGHUP"
        } else {
            return
        }
        log.event(.warning, "the certificate \(warning)")
    }

    private static func text(_ seconds: Int64) -> String { Timestamp(milliseconds: seconds * 1000).iso8601 }
}

/// The files of the certificate and its private key.
package struct TLSFiles: Sendable {
    let certificatePath: String
    let keyPath: String

    /// The maximum size of a certificate chain or key, in bytes.
    private static let limit = 1 << 20

    /// Creates the files from the configured paths; nil for plain HTTP.
    package init?(_ given: Configuration) {
        guard let certificate = given.tlsCertificate, let key = given.tlsKey else { return nil }
        certificatePath = certificate
        keyPath = key
    }

    /// Creates the TLS termination with this certificate and key.
    func makeTermination() throws -> TLSTermination {
        let certificate = try readCertificate()
        let key = try readKey()
        return try attempt(orElse: failure) { try TLSTermination(certificatePEM: certificate, keyPEM: key) }
    }

    /// Reads the files again, for the next handshakes; changes nothing if it throws.
    ///
    /// - Returns: whether the certificate is a new one.
    func reload(_ termination: TLSTermination) throws -> Bool {
        let certificate = try readCertificate()
        let key = try readKey()
        return try attempt(orElse: failure) {
            try termination.replace(certificatePEM: certificate, keyPEM: key)
        }
    }

    private func readCertificate() throws -> [UInt8] {
        try attempt(orElse: { unreadable("certificate", "--tls-certificate", $0) }) {
            try OpenFile(certificatePath, O_RDONLY).readAll(limit: Self.limit)
        }
    }

    private func readKey() throws -> [UInt8] {
        let (content, isSafe) = try attempt(orElse: { unreadable("private key", "--tls-key", $0) }) {
            let file = try OpenFile(keyPath, O_RDONLY)
            return (try file.readAll(limit: Self.limit), try file.isFitForSecrets())
        }
        guard isSafe else {
            let command = "chmod 600 \(ShellWord.quoted(operand: keyPath))"
            throw CommandFailure.configuration(
                "Users other than its owner can read or change the private key \(keyPath)."
            ).advising("Run `\(command)`; a key that belongs to root may be 0640.")
        }
        return content
    }

    private func unreadable(_ what: String, _ flag: String, _ error: SystemError) -> CommandFailure {
        CommandFailure.configuration("The \(what) cannot be read: \(error.text).")
            .advising("Give \(flag) the path of a file that the user that Afterlink runs as may read.")
    }
}

extension TLSFiles {
    private func failure(_ error: TLSError) -> CommandFailure {
        let detail = error.detail.isEmpty ? "" : " (OpenSSL: \(error.detail))"
        return switch error.cause {
        case .certificateNotPEM:
            .configuration("\(certificatePath) holds no certificate in PEM, or a damaged one\(detail).")
                .advising(
                    "Give --tls-certificate the file with the chain, the server's own certificate first."
                )
        case .certificateUnusable:
            .configuration(
                "The certificate \(certificatePath), or one of its chain, cannot be used\(detail)."
            ).advising("Have a new one issued, with a P-256 key or with RSA of 2048 bits or more.")
        case .keyNotPEM:
            .configuration("\(keyPath) holds no private key in PEM, or a damaged one\(detail).")
                .advising("Give --tls-key the file that begins with -----BEGIN PRIVATE KEY-----.")
        case .keyEncrypted:
            .configuration(
                "The private key \(keyPath) is encrypted, and a service cannot enter its password."
            )
            .advising(
                "Decrypt it into a file of its own: openssl pkey -in \(ShellWord.quoted(keyPath)) -out FILE && chmod 600 FILE"
            )
        case .keyDoesNotFit:
            .configuration(
                "The private key \(keyPath) does not belong to the certificate \(certificatePath)."
            ).advising("Give the two files that were issued together.")
        case .resources:
            .configuration("OpenSSL cannot be set up for TLS\(detail).")
                .advising("Check the system's OpenSSL and its memory.")
        }
    }
}
