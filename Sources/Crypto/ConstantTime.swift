internal import COpenSSL

/// Whether two byte strings are equal, in a time that depends on their lengths alone.
///
/// For secrets and what is derived from them (OWASP ASVS 5, 11.2.4): the time of an ordinary comparison tells
/// how many leading bytes were right. Lengths are not secret.
public func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return constantTimeEquals(left.span, right.span)
}

/// As for arrays.
public func constantTimeEquals(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    // Both buffers are valid for the length of the calls and hold `count` bytes each.
    let difference = unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count)
        }
    }
    return difference == 0
}
