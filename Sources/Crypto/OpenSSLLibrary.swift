internal import COpenSSL

/// The OpenSSL library that this process uses.
public enum OpenSSLLibrary {
    /// The version, such as `OpenSSL 3.0.17 1 Jul 2025`.
    public static var version: String {
        // OpenSSL returns a constant text; nil only for an unknown number.
        unsafe OpenSSL_version(OPENSSL_VERSION).map { unsafe String(cString: $0) } ?? "unknown"
    }
}
