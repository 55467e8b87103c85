import Attribution

/// The fingerprints of stored clicks, one a number, as scripts can make them too.
enum SeededFingerprint {
    private static let mark: UInt64 = 0x5eed_5eed_5eed_5eed

    /// The digits before the number's sixteen.
    static let prefix = Fingerprint(words: (mark, 0, 0, 0)).hex.prefix(48)

    static func number(_ number: Int) -> Fingerprint {
        Fingerprint(words: (mark, 0, 0, UInt64(number)))
    }
}
