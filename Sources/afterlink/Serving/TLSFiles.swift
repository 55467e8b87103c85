internal import Glibc
package import HTTPServer

/// The files that hold the certificate and its private key.
package struct TLSFiles: Sendable {
    let certificatePath: String
    let keyPath: String

    /// Longest certificate chain or key that is read.
    private static let limit = 1 << 20

    /// Nil for plain HTTP.
    package init?(_ configuration: Configuration) {
        guard let certificate = configuration.tlsCertificate, let key = configuration.tlsKey else {
            return nil
        }
        certificatePath = certificate
        keyPath = key
    }

    /// Creates the TLS termination with this certificate and key.
    func makeTermination() throws -> TLSTermination {
        let certificate = try readCertificate()
        let key = try readKey()
        return try attempt {
            try TLSTermination(certificatePEM: certificate, keyPEM: key)
        } orElse: {
            failure($0)
        }
    }

    /// Shows what the files hold now from the next handshake on; changes nothing where it throws.
    ///
    /// - Returns: whether the certificate is another one.
    func reload(_ termination: TLSTermination) throws -> Bool {
        let certificate = try readCertificate()
        let key = try readKey()
        return try attempt {
            try termination.replace(certificatePEM: certificate, keyPEM: key)
        } orElse: {
            failure($0)
        }
    }

    /// Reads the certificate, without its key.
    package func certificate() throws -> CertificateSummary {
        let certificate = try readCertificate()
        return try attempt {
            try CertificateSummary(pem: certificate)
        } orElse: {
            failure($0)
        }
    }

    private func readCertificate() throws -> [UInt8] {
        try attempt {
            try OpenFile(certificatePath, O_RDONLY).readAll(limit: Self.limit)
        } orElse: {
            outOfReach("certificate", "--tls-certificate", $0)
        }
    }

    private func readKey() throws -> [UInt8] {
        let (content, isSafe) = try attempt {
            let file = try OpenFile(keyPath, O_RDONLY)
            return (try file.readAll(limit: Self.limit), try file.isFitForSecrets())
        } orElse: {
            outOfReach("private key", "--tls-key", $0)
        }
        guard isSafe else {
            throw CommandFailure(
                .configuration,
                "The private key \(keyPath) can be read or changed by others than its owner.",
                advice:
                    "Run `chmod 600 \(ShellWord.quoted(operand: keyPath))`; a key that belongs to root may be 0640."
            )
        }
        return content
    }

    private func outOfReach(_ what: String, _ flag: String, _ error: SystemError) -> CommandFailure {
        CommandFailure(
            .configuration,
            "The \(what) is out of reach: \(error.text).",
            advice: "Give \(flag) the path of a file that the user that Afterlink runs as may read."
        )
    }
}

extension TLSFiles {
    private func failure(_ error: TLSError) -> CommandFailure {
        let detail = error.detail.isEmpty ? "" : " (OpenSSL: \(error.detail))"
        let (explanation, advice) =
            switch error.cause {
            case .certificateNotPEM:
                (
                    "\(certificatePath) holds no certificate in PEM, or a damaged one\(detail).",
                    "Give --tls-certificate the file with the chain, the server's own certificate first."
                )
            case .certificateUnusable:
                (
                    "The certificate \(certificatePath), or one of its chain, cannot be used\(detail).",
                    "Have a new one issued, with a P-256 key or with RSA of 2048 bits or more."
                )
            case .keyNotPEM:
                (
                    "\(keyPath) holds no private key in PEM, or a damaged one\(detail).",
                    "Give --tls-key the file that begins with -----BEGIN PRIVATE KEY-----."
                )
            case .keyEncrypted:
                (
                    "The private key \(keyPath) is encrypted, and a service cannot type its password.",
                    "Decrypt it into a file of its own: openssl pkey -in \(ShellWord.quoted(keyPath)) -out FILE && chmod 600 FILE"
                )
            case .keyDoesNotFit:
                (
                    "The private key \(keyPath) does not belong to the certificate \(certificatePath).",
                    "Take the two files that were made together."
                )
            case .resources:
                ("OpenSSL cannot be set up for TLS\(detail).", "Look at the system's OpenSSL and its memory.")
            }
        return CommandFailure(.configuration, explanation, advice: advice)
    }
}
