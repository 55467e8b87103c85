package import Attribution
internal import HTTPServer

/// Checks that the certificate is valid for three more weeks.
package struct CertificateExamination {
    private let path: String
    private let expiresAt: Timestamp
    private let now: Timestamp

    private static let day: Int64 = 86_400_000

    package init(path: String, expiresAt: Timestamp, now: Timestamp) {
        self.path = path
        self.expiresAt = expiresAt
        self.now = now
    }

    /// Examines a certificate and its key.
    package static func diagnosis(of files: TLSFiles, at now: Timestamp) -> Diagnosis {
        do {
            let expiry = try files.makeTermination().certificate.notAfter
            let expiresAt = Timestamp(milliseconds: expiry * 1000)
            return CertificateExamination(path: files.certificatePath, expiresAt: expiresAt, now: now)
                .diagnosis()
        } catch {
            return .problem("tls", error)
        }
    }

    package func diagnosis() -> Diagnosis {
        let advice = "renew it and send the service SIGHUP, which reloads it"
        let left = expiresAt.milliseconds(since: now)
        guard left > 0 else {
            return .problem("tls", "\(path) expired at \(expiresAt.iso8601)", advice)
        }
        let text = "\(path) expires at \(expiresAt.iso8601), in \(left / Self.day) days"
        return left < 21 * Self.day ? .warning("tls", text, advice) : .ok("tls", text)
    }
}
