/// The grammar of `chunk-ext` (RFC 9112 §7.1.1) behind a chunk's size; what it says is ignored.
///
/// Blanks around the semicolons and equals signs are bad white space, which no client should send and every
/// server must take off. A blank that ends the line belongs to nothing, and is refused.
struct ChunkExtensionParser {
    private enum State {
        case beforeSemicolon
        case nameStart
        case name
        case afterName
        case valueStart
        case value
        case quoted
        case quotedPair
        case afterQuoted
    }

    private var state: State
    private var count = 0

    /// - Parameter first: the byte behind the size; nil if neither extensions nor blanks begin with it.
    init?(startingWith first: UInt8) {
        switch first {
        case UInt8(ascii: ";"): state = .nameStart
        case ByteClass.space, ByteClass.tab: state = .beforeSemicolon
        default: return nil
        }
    }

    /// Takes a byte.
    ///
    /// - Returns: whether it was the CR that ends the extensions.
    mutating func take(_ byte: UInt8, longest: Int) throws(Refusal) -> Bool {
        if byte == ByteClass.carriageReturn {
            guard state == .name || state == .value || state == .afterQuoted else {
                throw .chunkExtensionSyntax
            }
            return true
        }
        count += 1
        guard count <= longest else { throw .chunkExtensionLength }
        guard let next = successor(byte) else { throw .chunkExtensionSyntax }
        state = next
        return false
    }

    private func successor(_ byte: UInt8) -> State? {
        switch state {
        case .quoted:
            switch byte {
            case UInt8(ascii: "\""): .afterQuoted
            case UInt8(ascii: "\\"): .quotedPair
            default: ByteClass.isFieldValue(byte) ? .quoted : nil
            }
        case .quotedPair: ByteClass.isFieldValue(byte) ? .quoted : nil
        default: ByteClass.isBlank(byte) ? afterBlank : afterToken(byte)
        }
    }

    /// Where a blank leads outside quotation marks.
    private var afterBlank: State? {
        switch state {
        case .name, .afterName: .afterName
        case .value, .afterQuoted, .beforeSemicolon: .beforeSemicolon
        default: state
        }
    }

    private func afterToken(_ byte: UInt8) -> State? {
        switch byte {
        case UInt8(ascii: ";"):
            state == .nameStart || state == .valueStart ? nil : .nameStart
        case UInt8(ascii: "="):
            state == .name || state == .afterName ? .valueStart : nil
        case UInt8(ascii: "\""):
            state == .valueStart ? .quoted : nil
        default:
            switch state {
            case .nameStart, .name: ByteClass.isToken(byte) ? .name : nil
            case .valueStart, .value: ByteClass.isToken(byte) ? .value : nil
            default: nil
            }
        }
    }
}
