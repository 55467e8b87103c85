/// Generates random numbers (xorshift64*), the same for the same seed, and mutates inputs with them.
public struct FuzzGenerator: Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        // The state must not be zero.
        state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_f491_4f6c_dd1d
    }

    /// Returns a number from 0 to below `bound`, or 0 if there is no such number.
    mutating func below(_ bound: Int) -> Int { bound > 0 ? Int(next() >> 33) % bound : 0 }

    mutating func range(in count: Int, longest: Int) -> Range<Int> {
        let start = below(count + 1)
        return start..<min(count, start + below(longest + 1))
    }

    /// Makes one to four changes at random positions.
    mutating func mutate(_ bytes: inout [UInt8], tokens: [[UInt8]], corpus: [[UInt8]]) {
        for _ in 0...below(4) {
            let position = below(bytes.count + 1)
            switch below(9) {
            case 0 where position < bytes.count: bytes[position] = UInt8(truncatingIfNeeded: next() >> 56)
            case 1 where position < bytes.count: bytes[position] ^= 1 << UInt8(below(8))
            case 2: bytes.removeSubrange(range(in: bytes.count, longest: 8))
            case 3: bytes.insert(UInt8(truncatingIfNeeded: next() >> 56), at: position)
            case 4: bytes.insert(contentsOf: bytes[range(in: bytes.count, longest: 64)], at: position)
            case 5: bytes.removeSubrange(position...)
            case 6: splice(&bytes, at: position, from: corpus)
            default: put(tokens, into: &bytes, at: position)
            }
        }
        if bytes.count > Self.longestInput { bytes.removeSubrange(Self.longestInput...) }
    }

    private static let longestInput = 64 * 1024

    private mutating func splice(_ bytes: inout [UInt8], at position: Int, from corpus: [[UInt8]]) {
        guard !corpus.isEmpty else { return }
        let other = corpus[below(corpus.count)]
        bytes.replaceSubrange(position..., with: other[below(other.count + 1)...])
    }

    private mutating func put(_ tokens: [[UInt8]], into bytes: inout [UInt8], at position: Int) {
        guard !tokens.isEmpty else { return }
        let token = tokens[below(tokens.count)]
        let end = below(2) == 0 ? position : min(bytes.count, position + token.count)
        bytes.replaceSubrange(position..<end, with: token)
    }
}
