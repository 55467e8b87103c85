internal import Synchronization

/// Which fingerprints the database may hold: says "none" for sure, or "perhaps".
///
/// A Bloom filter in blocks of a cache line's half, so that an answer costs one look into memory, while SQLite walks
/// two trees for it. Fingerprints are only ever added; one that is forgotten by all costs a look that finds nothing.
///
/// Safe to use, because the words are live from `init` to `deinit`. Sendable, because they are atomic.
@safe package final class FingerprintFilter: @unchecked Sendable {
    private static let wordsOfBlock = 4
    /// Twelve bits for each fingerprint let one in some two hundred strangers pass.
    private static let bitsOfFingerprint = 12
    /// Beyond it more strangers pass, and memory stays what it is: 8 MiB, where one in some fifteen passes when ten
    /// million fingerprints are stored.
    private static let mostBlocks = 1 << 18

    /// Fingerprints that it is made for.
    let capacity: Int
    private let blockCount: UInt64
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let additions = Atomic(0)
    private let isRetired = Atomic(false)

    package init(capacity: Int) {
        self.capacity = capacity
        let blocks = capacity / (Self.wordsOfBlock * UInt64.bitWidth / Self.bitsOfFingerprint) + 1
        let wordCount = min(blocks, Self.mostBlocks) * Self.wordsOfBlock
        blockCount = UInt64(wordCount / Self.wordsOfBlock)
        unsafe words = .allocate(capacity: wordCount)
        // Memory of our own, each word of which is made once.
        for index in 0..<wordCount { unsafe (words + index).initialize(to: Atomic(0)) }
    }

    deinit {
        // Made in `init`; atomic words have nothing to tear down.
        unsafe words.deallocate()
    }

    /// Whether more were added than it is made for.
    var isFull: Bool { additions.load(ordering: .relaxed) > capacity }

    /// Adds the number that a fingerprint is looked up by.
    package func add(_ index: UInt64) {
        additions.wrappingAdd(1, ordering: .relaxed)
        let first = firstWord(of: index)
        for offset in 0..<Self.wordsOfBlock {
            // Within the words: a block is four of them.
            let word = unsafe words + first + offset
            unsafe word.pointee.bitwiseOr(Self.bits(of: index, in: offset), ordering: .releasing)
        }
    }

    /// From now on nothing is added to it, and it says "perhaps" of everything: a loop may still ask it, because it
    /// keeps the one that its turn began with.
    func retire() { isRetired.store(true, ordering: .releasing) }

    /// False only for what was never added.
    package func mayHold(_ index: UInt64) -> Bool {
        guard !isRetired.load(ordering: .acquiring) else { return true }
        let first = firstWord(of: index)
        for offset in 0..<Self.wordsOfBlock {
            let bits = Self.bits(of: index, in: offset)
            // Within the words: a block is four of them.
            guard unsafe (words + first + offset).pointee.load(ordering: .acquiring) & bits == bits else {
                return false
            }
        }
        return true
    }

    /// The number is one of a keyed hash: all of its bits are equally good, and only mixed for the block, so that it
    /// does not share them with the bits inside.
    private func firstWord(of index: UInt64) -> Int {
        let mixed = (index &* 0x9e37_79b9_7f4a_7c15) >> 32
        return Int(truncatingIfNeeded: (mixed &* blockCount) >> 32) * Self.wordsOfBlock
    }

    /// Two of a word's 64 bits, by twelve bits of the number.
    private static func bits(of index: UInt64, in offset: Int) -> UInt64 {
        let part = index >> UInt64(truncatingIfNeeded: offset * 12)
        return 1 << (part & 63) | 1 << ((part >> 6) & 63)
    }
}
