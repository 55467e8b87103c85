/// The grammar of `chunk-ext` (RFC 9112 §7.1.1) behind its first semicolon; what it says is ignored.
///
/// The bad white space that the RFC tolerates there is refused: no client needs it, smugglers do.
struct ChunkExtensionParser {
    private enum State {
        case nameStart
        case name
        case valueStart
        case value
        case quoted
        case quotedPair
        case afterQuoted
    }

    private var state = State.nameStart
    private var count = 0

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
        case .nameStart: ByteClass.isToken(byte) ? .name : nil
        case .name:
            switch byte {
            case UInt8(ascii: "="): .valueStart
            case UInt8(ascii: ";"): .nameStart
            default: ByteClass.isToken(byte) ? .name : nil
            }
        case .valueStart:
            byte == UInt8(ascii: "\"") ? .quoted : ByteClass.isToken(byte) ? .value : nil
        case .value:
            byte == UInt8(ascii: ";") ? .nameStart : ByteClass.isToken(byte) ? .value : nil
        case .quoted:
            switch byte {
            case UInt8(ascii: "\""): .afterQuoted
            case UInt8(ascii: "\\"): .quotedPair
            default: ByteClass.isFieldValue(byte) ? .quoted : nil
            }
        case .quotedPair: ByteClass.isFieldValue(byte) ? .quoted : nil
        case .afterQuoted: byte == UInt8(ascii: ";") ? .nameStart : nil
        }
    }
}
