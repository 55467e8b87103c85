internal import COpenSSL

/// The OpenSSL library that this process runs with.
public enum OpenSSLLibrary {
    /// As in `OpenSSL 3.0.17 1 Jul 2025`.
    public static var version: String {
        // A constant text of the library; nil only for a number that it does not know.
        unsafe OpenSSL_version(OPENSSL_VERSION).map { unsafe String(cString: $0) } ?? "unknown"
    }
}
