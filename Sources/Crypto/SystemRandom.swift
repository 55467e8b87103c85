internal import COpenSSL

/// The system's generator of unpredictable bytes, through OpenSSL's.
public enum SystemRandom {
    /// `count` bytes that nobody can predict.
    ///
    /// Ends the process when the system has no randomness to give: keys and identifiers made without it could
    /// be guessed, and no answer is better than such a key. On Linux that cannot happen once the system is
    /// up.
    public static func bytes(_ count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        // The buffer is the array's own for the length of the call; OpenSSL writes exactly `count` bytes.
        let status = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe RAND_bytes(buffer.baseAddress, Int32(buffer.count))
        }
        precondition(status == 1, "the system's random generator failed: nothing may be made without it")
        return bytes
    }
}
