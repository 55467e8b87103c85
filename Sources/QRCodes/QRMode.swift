internal import Attribution

/// The alphabet in which a piece of a text is written: the smaller it is, the fewer bits a character takes.
package enum QRMode: Int, CaseIterable, Sendable {
    /// Digits: ten bits for three.
    case numeric
    /// Digits, capitals, space and `$%*+-./:`: eleven bits for two.
    case alphanumeric
    /// Bytes of UTF-8.
    case byte

    /// The four bits that announce a segment of this mode.
    var indicator: UInt32 {
        switch self {
        case .numeric: 0b0001
        case .alphanumeric: 0b0010
        case .byte: 0b0100
        }
    }

    /// How many bits a segment's length takes.
    func countBits(in sizes: QRVersionSizes) -> Int {
        switch (self, sizes) {
        case (.numeric, .small): 10
        case (.numeric, .medium): 12
        case (.numeric, .large): 14
        case (.alphanumeric, .small): 9
        case (.alphanumeric, .medium): 11
        case (.alphanumeric, .large): 13
        case (.byte, .small): 8
        case (.byte, .medium), (.byte, .large): 16
        }
    }

    /// What a character takes in the long run, in sixths of a bit; nil for one that the mode has not.
    func sixthsOfBits(for byte: UInt8) -> Int? {
        switch self {
        case .numeric: byte.isASCIIDigit ? 20 : nil
        case .alphanumeric: Self.alphanumericValue(of: byte) == nil ? nil : 33
        case .byte: 48
        }
    }

    /// 0…44.
    static func alphanumericValue(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A")) + 10
        case UInt8(ascii: " "): 36
        case UInt8(ascii: "$"): 37
        case UInt8(ascii: "%"): 38
        case UInt8(ascii: "*"): 39
        case UInt8(ascii: "+"): 40
        case UInt8(ascii: "-"): 41
        case UInt8(ascii: "."): 42
        case UInt8(ascii: "/"): 43
        case UInt8(ascii: ":"): 44
        default: nil
        }
    }
}

/// Versions in which lengths of segments take equally many bits.
package enum QRVersionSizes: CaseIterable, Sendable {
    case small
    case medium
    case large

    package var versions: ArraySlice<QRVersion> {
        switch self {
        case .small: QRVersion.all[0..<9]
        case .medium: QRVersion.all[9..<26]
        case .large: QRVersion.all[26..<40]
        }
    }
}
