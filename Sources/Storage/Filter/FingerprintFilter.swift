internal import Synchronization

/// A filter that can rule out that a fingerprint is stored.
///
/// It is a Bloom filter in 32-byte blocks: a query reads one block, whereas a database searches a tree. Fingerprints
/// are never removed; a fingerprint that is no longer stored costs a read that finds nothing.
///
/// The class is safe, because its words are allocated from `init` to `deinit`, and sendable, because they are atomic.
@safe package final class FingerprintFilter: @unchecked Sendable {
    private static let wordsOfBlock = 4
    /// With twelve bits for each fingerprint, about one in two hundred fingerprints that are not stored passes.
    private static let bitsOfFingerprint = 12
    /// The limit of memory, 8 MiB; with ten million stored fingerprints, about one in fifteen that are not stored
    /// passes.
    private static let maximumBlocks = 1 << 18

    /// The number of fingerprints for which the filter was created.
    let capacity: Int
    private let blockCount: UInt64
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let additions = Atomic(0)
    private let isRetired = Atomic(false)

    package init(capacity: Int) {
        self.capacity = capacity
        let blocks = capacity / (Self.wordsOfBlock * UInt64.bitWidth / Self.bitsOfFingerprint) + 1
        let wordCount = min(blocks, Self.maximumBlocks) * Self.wordsOfBlock
        blockCount = UInt64(wordCount / Self.wordsOfBlock)
        unsafe words = .allocate(capacity: wordCount)
        // The memory belongs to this object, and each word is initialised once.
        for index in 0..<wordCount { unsafe (words + index).initialize(to: Atomic(0)) }
    }

    deinit {
        // Allocated in `init`; atomic words need no deinitialisation.
        unsafe words.deallocate()
    }

    /// Whether more fingerprints were added than the filter was created for.
    var isFull: Bool { additions.load(ordering: .relaxed) > capacity }

    /// Adds the first word of a fingerprint.
    package func add(_ index: UInt64) {
        additions.wrappingAdd(1, ordering: .relaxed)
        let first = firstWord(of: index)
        for offset in 0..<Self.wordsOfBlock {
            // Each block has four words, all in bounds.
            let word = unsafe words + first + offset
            unsafe word.pointee.bitwiseOr(Self.bits(of: index, in: offset), ordering: .releasing)
        }
    }

    /// Makes every query return true: new clicks are no longer added, but a loop may query the filter until its turn ends.
    func retire() { isRetired.store(true, ordering: .releasing) }

    /// Returns false only for a word that was never added.
    package func mayHold(_ index: UInt64) -> Bool {
        guard !isRetired.load(ordering: .acquiring) else { return true }
        let first = firstWord(of: index)
        for offset in 0..<Self.wordsOfBlock {
            let bits = Self.bits(of: index, in: offset)
            // Each block has four words, all in bounds.
            guard unsafe (words + first + offset).pointee.load(ordering: .acquiring) & bits == bits else {
                return false
            }
        }
        return true
    }

    /// Returns the first word of a hash's block; its bits are mixed, because the positions inside the block use the same
    /// bits unmixed.
    private func firstWord(of index: UInt64) -> Int {
        let mixed = (index &* 0x9e37_79b9_7f4a_7c15) >> 32
        return Int(truncatingIfNeeded: (mixed &* blockCount) >> 32) * Self.wordsOfBlock
    }

    /// Returns two of a word's 64 bits, chosen by twelve bits of the index.
    private static func bits(of index: UInt64, in offset: Int) -> UInt64 {
        let part = index >> UInt64(truncatingIfNeeded: offset * 12)
        return 1 << (part & 63) | 1 << ((part >> 6) & 63)
    }
}
