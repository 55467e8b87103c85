internal import COpenSSL

/// Why a certificate and its key cannot be used.
public struct TLSError: Error, Sendable, Hashable {
    public enum Cause: Sendable, Hashable, CaseIterable {
        /// The certificate file holds no certificate in PEM, or a damaged one.
        case certificateNotPEM
        /// OpenSSL does not take the certificate, or one of its chain: too weak a key, too old a signature.
        case certificateUnusable
        /// The key file holds no private key in PEM, or a damaged one.
        case keyNotPEM
        /// The private key asks for a password, which nobody could type at a start.
        case keyEncrypted
        /// The private key belongs to another certificate.
        case keyDoesNotFit
        /// OpenSSL ran out of memory, or lacks what every server of ours insists on.
        case resources
    }

    public let cause: Cause

    /// What OpenSSL says about it, in its words; empty where it says nothing.
    public let detail: String

    /// Takes OpenSSL's last error as the detail, and empties its queue: the next one to look there is not
    /// told of this.
    init(_ cause: Cause) {
        self.cause = cause
        // The text is a constant of OpenSSL's.
        detail =
            unsafe ERR_reason_error_string(ERR_peek_last_error()).map { unsafe String(cString: $0) } ?? ""
        ERR_clear_error()
    }
}
