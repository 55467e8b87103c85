public import Attribution

/// Integers of fixed width in a column of bytes, the lowest byte first.
extension [UInt8] {
    package mutating func pack(_ value: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends an integer in groups of seven bits, the lowest first: integers near 0, also negative ones, are short.
    package mutating func packShort(_ value: some FixedWidthInteger & SignedInteger) {
        let value = Int64(value)
        packGroups(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    /// Appends an integer in groups of seven bits, the lowest first.
    package mutating func packGroups(_ value: UInt64) {
        var word = value
        while word > 0x7f {
            append(UInt8(truncatingIfNeeded: word) | 0x80)
            word >>= 7
        }
        append(UInt8(truncatingIfNeeded: word))
    }

    /// Returns the integer at `start`, all of whose bytes must exist.
    func unpacked<Value: FixedWidthInteger & UnsignedInteger>(at start: Int, as type: Value.Type = Value.self)
        -> Value
    {
        var value: Value = 0
        for byte in 0..<Value.bitWidth / 8 { value |= Value(self[start + byte]) << (8 * byte) }
        return value
    }

    /// Creates the bytes of both words of each hash.
    init(packing hashes: [KeyedHash]) {
        self = []
        reserveCapacity(hashes.count * 16)
        for hash in hashes {
            pack(hash.index)
            pack(hash.rest)
        }
    }

    var unpackedHashes: [KeyedHash] {
        stride(from: 0, through: count - 16, by: 16).map { start in
            KeyedHash(index: unpacked(at: start), rest: unpacked(at: start + 8))
        }
    }

    init(packing words: [UInt64]) {
        self = []
        reserveCapacity(words.count * 8)
        for word in words { pack(word) }
    }

    var unpackedWords: [UInt64] { stride(from: 0, through: count - 8, by: 8).map { unpacked(at: $0) } }
}

/// The first four bytes of each hash of a click, which rule out most clicks that do not have a searched hash.
public struct HashPrefixes: Equatable, Sendable {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    public init(_ hashes: some Collection<KeyedHash>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hashes.count * 4)
        for hash in hashes { bytes.pack(UInt32(truncatingIfNeeded: hash.index)) }
        self.bytes = bytes
    }

    /// Returns whether one of the hashes may be this one.
    public func mayContain(_ hash: KeyedHash) -> Bool {
        let mark = UInt32(truncatingIfNeeded: hash.index)
        var start = 0
        while start + 4 <= bytes.count {
            if bytes.unpacked(at: start) == mark { return true }
            start += 4
        }
        return false
    }
}
