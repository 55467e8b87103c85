internal import COpenSSL

/// Verification of ECDSA signatures over the curve P-256 with SHA-256 (FIPS 186-5), computed by OpenSSL.
public enum ECDSAP256 {
    /// Returns whether a signature of a message verifies.
    ///
    /// - Parameters:
    ///   - signature: a DER-encoded pair of integers.
    ///   - message: the signed bytes.
    ///   - key: the public key as DER SubjectPublicKeyInfo.
    /// - Returns: whether it verifies; false also for a malformed signature or key, for a key of another curve, or if
    ///   OpenSSL fails.
    public static func verifies(_ signature: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
        // The arrays are valid during the call, and the counts are their lengths.
        unsafe afterlink_ecdsa_p256_verifies(
            key,
            key.count,
            message,
            message.count,
            signature,
            signature.count
        ) == 1
    }

    /// Returns the DER form of a signature of 64 bytes, which are R and S (RFC 7518 §3.4); nil for any other length.
    public static func der(ofRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64 else { return nil }
        let integers = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(integers.count)] + integers
    }

    /// Returns the DER integer of an unsigned big-endian number, without superfluous zeros.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
