internal import Attribution
internal import Crypto

extension RandomSource {
    /// The system's own unpredictable bytes.
    static let system = RandomSource { SystemRandom.bytes($0) }
}
