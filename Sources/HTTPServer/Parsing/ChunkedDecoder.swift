/// Removes the chunked coding from a body (RFC 9112 §7.1).
///
/// The caller passes each byte once, except the bytes of the trailers: the caller passes them again, with more bytes,
/// until the trailers have ended.
struct ChunkedDecoder {
    enum Outcome: Equatable {
        /// The decoder needs more bytes.
        case more
        /// The body and its trailers have ended.
        case end
    }

    private enum State: Equatable {
        case sizeStart
        case size
        case chunkExtension
        case sizeLineFeed
        case data
        case dataCarriageReturn
        case dataLineFeed
        case trailers
    }

    private static let maximumSizeDigits = 8

    private var state = State.sizeStart
    private var sizeDigits = 0
    /// The part of a chunk's size that the decoder has read; after the size, the number of data bytes that remain.
    private var remaining = 0
    /// The parser of extensions in the state `chunkExtension`.
    private var extensionParser: ChunkExtensionParser?
    private var trailers = FieldSectionParser(at: 0)
    private var trailerCount = 0

    /// Decodes bytes and appends the data to the body.
    ///
    /// Sets `used` to the number of bytes that the caller must not pass again.
    mutating func decode(
        _ bytes: Span<UInt8>,
        into body: inout [UInt8],
        used: inout Int,
        limits: Limits
    ) throws(Refusal) -> Outcome {
        used = 0
        while used < bytes.count {
            switch state {
            case .sizeStart, .size:
                try readSize(bytes[used], room: limits.bodyByteCount - body.count)
                used += 1
            case .chunkExtension:
                try readExtension(bytes[used], longest: limits.chunkExtensionByteCount)
                used += 1
            case .sizeLineFeed:
                try endSizeLine(bytes[used])
                used += 1
            case .data: copyData(bytes, &used, into: &body)
            case .dataCarriageReturn, .dataLineFeed:
                try endData(bytes[used])
                used += 1
            case .trailers:
                let end = try readTrailers(bytes.extracting(used..<bytes.count), limits)
                guard let end else { return .more }
                used += end
                return .end
            }
        }
        return .more
    }

    private mutating func readSize(_ byte: UInt8, room: Int) throws(Refusal) {
        if let digit = ByteClass.hexValue(byte) {
            guard sizeDigits < Self.maximumSizeDigits else { throw .chunkSizeLength }
            sizeDigits += 1
            remaining = remaining << 4 | Int(digit)
            state = .size
            return
        }
        guard state == .size else { throw .chunkSizeSyntax }
        if byte == ByteClass.carriageReturn {
            state = .sizeLineFeed
        } else {
            extensionParser = ChunkExtensionParser(startingWith: byte)
            guard extensionParser != nil else { throw .chunkSizeSyntax }
            state = .chunkExtension
        }
        // The limit is checked after the last digit. So a size with too many digits gets 400, not 413.
        guard remaining <= room else { throw .bodyLength }
    }

    private mutating func readExtension(_ byte: UInt8, longest: Int) throws(Refusal) {
        if try extensionParser?.take(byte, longest: longest) != false { state = .sizeLineFeed }
    }

    private mutating func endSizeLine(_ byte: UInt8) throws(Refusal) {
        guard byte == ByteClass.lineFeed else { throw .bareCarriageReturn }
        sizeDigits = 0
        if remaining > 0 {
            state = .data
        } else {
            trailers = FieldSectionParser(at: 0)
            state = .trailers
        }
    }

    private mutating func copyData(_ bytes: Span<UInt8>, _ used: inout Int, into body: inout [UInt8]) {
        let count = min(remaining, bytes.count - used)
        body.append(copying: bytes.extracting(used..<used + count))
        used += count
        remaining -= count
        if remaining == 0 { state = .dataCarriageReturn }
    }

    private mutating func endData(_ byte: UInt8) throws(Refusal) {
        let expected = state == .dataCarriageReturn ? ByteClass.carriageReturn : ByteClass.lineFeed
        guard byte == expected else { throw .chunkDataEnd }
        state = state == .dataCarriageReturn ? .dataLineFeed : .sizeStart
    }

    /// Parses and drops the trailers, as RFC 9110 §6.5.1 allows.
    ///
    /// - Returns: the index after the trailers; `nil` if more bytes are needed.
    private mutating func readTrailers(_ bytes: Span<UInt8>, _ limits: Limits) throws(Refusal) -> Int? {
        while true {
            switch try trailers.next(bytes, limit: limits.fieldsByteCount) {
            case .more: return nil
            case .end: return trailers.position
            case .line(let line):
                trailerCount += 1
                guard trailerCount <= limits.trailerCount else { throw .trailerCount }
                let name = Int(line.name.lowerBound)..<Int(line.name.upperBound)
                for forbidden in ["host", "content-length", "transfer-encoding"] as [StaticString]
                where ByteClass.equals(bytes, name, lowercase: forbidden) {
                    throw .trailerForbidden
                }
            }
        }
    }
}

extension [UInt8] {
    /// Appends bytes, which it copies as a block.
    mutating func append(copying bytes: Span<UInt8>) {
        // The span's memory is valid during the call, and append keeps no pointer to it.
        unsafe bytes.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
    }
}

/// The grammar of `chunk-ext` (RFC 9112 §7.1.1) after a chunk's size.
///
/// The server ignores the extensions, but requires that they are well-formed. It accepts blanks around semicolons and
/// equals signs, as RFC 9112 requires of servers. It refuses a blank at the end of the line.
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

    /// - Parameter first: the byte after the size; the result is nil if it is neither a semicolon nor a blank.
    init?(startingWith first: UInt8) {
        switch first {
        case UInt8(ascii: ";"): state = .nameStart
        case ByteClass.space, ByteClass.tab: state = .beforeSemicolon
        default: return nil
        }
    }

    /// Consumes a byte, and returns whether it was the CR that ends the extensions.
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

    /// The state after a blank outside quotation marks.
    private var afterBlank: State? {
        switch state {
        case .name, .afterName: .afterName
        case .value, .afterQuoted, .beforeSemicolon: .beforeSemicolon
        default: state
        }
    }

    private func afterToken(_ byte: UInt8) -> State? {
        switch byte {
        case UInt8(ascii: ";"): state == .nameStart || state == .valueStart ? nil : .nameStart
        case UInt8(ascii: "="): state == .name || state == .afterName ? .valueStart : nil
        case UInt8(ascii: "\""): state == .valueStart ? .quoted : nil
        default:
            switch state {
            case .nameStart, .name: ByteClass.isToken(byte) ? .name : nil
            case .valueStart, .value: ByteClass.isToken(byte) ? .value : nil
            default: nil
            }
        }
    }
}
