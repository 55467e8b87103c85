internal import Attribution
internal import HTTPServer
internal import Server

/// TLS while it is served: the files it comes from, and what has been read from them.
struct ServedTLS: Sendable {
    let termination: TLSTermination
    private let files: TLSFiles

    /// How long before its end a certificate is warned of.
    private static let warningDays: Int64 = 14

    /// Nil for plain HTTP.
    ///
    /// - Throws: when the certificate or the key cannot be used.
    init?(_ configuration: Configuration) throws {
        guard let files = TLSFiles(configuration) else { return nil }
        self.files = files
        termination = try files.makeTermination()
    }

    /// Reloads the files, and keeps the current certificate if they cannot be used; logs which.
    func reload(_ log: Log) {
        do {
            let isAnother = try files.reload(termination)
            let end = Self.text(termination.certificate.notAfter)
            log.event(
                .info,
                isAnother
                    ? "new connections get the new certificate, valid until \(end)"
                    : "the certificate is the same as before, valid until \(end)"
            )
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

    /// Writes down what clients will hold against the certificate, or will soon.
    func warn(_ log: Log) {
        let certificate = termination.certificate
        let now = WallClock.system.now().milliseconds / 1000
        let end = Self.text(certificate.notAfter)
        if now > certificate.notAfter {
            log.event(
                .warning,
                "the certificate expired at \(end), and clients refuse it: renew it, then SIGHUP"
            )
        } else if now < certificate.notBefore {
            let start = Self.text(certificate.notBefore)
            log.event(
                .warning,
                "the certificate is valid from \(start) only, and clients refuse it until then"
            )
        } else if now > certificate.notAfter - Self.warningDays * 86_400 {
            log.event(.warning, "the certificate expires at \(end): renew it, then SIGHUP")
        }
    }

    private static func text(_ seconds: Int64) -> String {
        Timestamp(milliseconds: seconds * 1000).iso8601
    }
}
