internal import COpenSSL

/// The system's generator of unpredictable bytes, used through OpenSSL.
public enum SystemRandom {
    /// Returns `count` unpredictable bytes.
    ///
    /// Ends the process if the system provides no randomness, because an attacker could then guess keys and
    /// identifiers. On Linux, this cannot happen once the system has started.
    public static func bytes(_ count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        // The array's buffer is valid during the call, and OpenSSL writes exactly `count` bytes.
        let status = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe RAND_bytes(buffer.baseAddress, Int32(buffer.count))
        }
        precondition(status == 1, "the system's random generator failed, so that keys would not be secret")
        return bytes
    }
}

/// The OpenSSL library that this process uses.
public enum OpenSSLLibrary {
    /// The version, such as `OpenSSL 3.0.17 1 Jul 2025`.
    public static var version: String {
        // OpenSSL returns a constant text, and nil only for an unknown constant.
        unsafe OpenSSL_version(OPENSSL_VERSION).map { unsafe String(cString: $0) } ?? "unknown"
    }
}
