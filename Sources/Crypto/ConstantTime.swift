internal import COpenSSL

/// Returns whether two byte strings are equal, in a time that depends only on their lengths.
///
/// It compares secrets and values derived from them (OWASP ASVS 5, 11.2.4), because the time of an ordinary
/// comparison reveals the number of right leading bytes. Lengths are not secret.
public func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return constantTimeEquals(left.span, right.span)
}

/// Returns whether two spans of bytes are equal, in a time that depends only on their lengths.
public func constantTimeEquals(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    // Both buffers are valid during the call and contain `count` bytes each.
    let difference = unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count)
        }
    }
    return difference == 0
}
