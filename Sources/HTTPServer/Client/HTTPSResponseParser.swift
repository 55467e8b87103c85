/// Parses the response to one request (RFC 9112 §4 to §6): bytes go in, a whole response comes out.
///
/// It is as strict as the parser of requests: it refuses bytes that two readers could interpret differently.
package struct HTTPSResponseParser {
    private enum State {
        case statusLine
        case fields
        case body
        case done
    }

    private enum Body {
        case none
        case length(Int)
        case chunked
        /// The body ends with the connection.
        case rest
    }

    private static let statusLineLimit = 1024
    private static let maximumInterimCount = 8

    private let isHead: Bool
    private let limits: Limits
    private let cutsLongBody: Bool
    private var state = State.statusLine
    /// The bytes that the parser has not consumed; it consumes the status line, and all field lines, as a whole.
    private var input: [UInt8] = []
    private var section = FieldSectionParser(at: 0)
    private var status = 0
    private var fields: [FieldLine] = []
    private var interimCount = 0
    private var framing = Body.none
    private var decoder = ChunkedDecoder()
    private var body: [UInt8] = []

    /// - Parameters:
    ///   - isHead: whether the response is to HEAD, and so has no body.
    ///   - bodyLimit: the maximum length of the body in bytes.
    ///   - cutsLongBody: whether to return the first `bodyLimit` bytes of a longer body, instead of throwing `tooLarge`.
    package init(isHead: Bool, bodyLimit: Int, cutsLongBody: Bool = false) {
        self.isHead = isHead
        self.cutsLongBody = cutsLongBody
        var limits = Limits()
        limits.bodyByteCount = bodyLimit
        self.limits = limits
    }

    /// Whether any byte of a response has arrived.
    var hasBegun: Bool { state != .statusLine || !input.isEmpty }

    /// Consumes bytes, and returns the response; `nil` until the response is complete.
    package mutating func receive(_ bytes: [UInt8]) throws(HTTPSFailure) -> HTTPSResponse? {
        input += bytes
        while true {
            switch state {
            case .statusLine: guard try readStatusLine() else { return nil }
            case .fields: guard try readFields() else { return nil }
            case .body: guard try readBody() else { return nil }
            case .done: return HTTPSResponse(status: status, fields: fields, body: body)
            }
        }
    }

    /// Records that the server sends no more, and returns the response.
    ///
    /// It throws `endedEarly` if the response is incomplete, or if `isClean` is false. Without TLS, the
    /// caller always passes true. Over TLS, the caller passes whether the server has sent a close_notify.
    package mutating func end(isClean: Bool) throws(HTTPSFailure) -> HTTPSResponse {
        guard state == .body, case .rest = framing, isClean else { throw .endedEarly }
        return HTTPSResponse(status: status, fields: fields, body: body)
    }

    /// Parses `HTTP/1.0` or `HTTP/1.1`, a space, three digits, and an optional phrase, which the parser ignores.
    ///
    /// - Returns: whether the line is complete.
    private mutating func readStatusLine() throws(HTTPSFailure) -> Bool {
        guard let end = input.firstIndex(of: ByteClass.lineFeed) else {
            guard input.count <= Self.statusLineLimit else {
                throw .malformed("The status line is too long.")
            }
            return false
        }
        guard end > 0, end <= Self.statusLineLimit, input[end - 1] == ByteClass.carriageReturn else {
            throw .malformed("The status line does not end in CR LF.")
        }
        let line = input[..<(end - 1)]
        let start = Array("HTTP/1.".utf8)
        guard line.starts(with: start), line.count >= 12,
            line[7] == UInt8(ascii: "1") || line[7] == UInt8(ascii: "0"),
            line[8] == ByteClass.space, line[9..<12].allSatisfy(ByteClass.isDigit),
            line.count == 12 || line[12] == ByteClass.space,
            line.dropFirst(12).allSatisfy(ByteClass.isFieldValue)
        else { throw .malformed("The status line is malformed.") }
        status = line[9..<12].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard (100...599).contains(status), status != 101 else {
            throw .malformed("The status code is unknown.")
        }
        input.removeFirst(end + 1)
        section = FieldSectionParser(at: 0)
        fields = []
        state = .fields
        return true
    }

    private mutating func readFields() throws(HTTPSFailure) -> Bool {
        let bytes = input
        while true {
            let outcome: FieldSectionParser.Outcome
            do throws(Refusal) {
                outcome = try section.next(bytes.span, limit: limits.fieldsByteCount)
            } catch {
                throw .malformed(error.sentence)
            }
            switch outcome {
            case .more: return false
            case .line(let line):
                guard fields.count < limits.fieldCount else { throw .malformed(Refusal.fieldsCount.sentence) }
                fields.append(FieldLine(name: text(line.name), value: text(line.value)))
            case .end:
                input.removeFirst(section.position)
                return try concludeHead()
            }
        }
    }

    private func text(_ range: Range<UInt32>) -> String {
        String(decoding: input[Int(range.lowerBound)..<Int(range.upperBound)], as: UTF8.self)
    }

    private mutating func concludeHead() throws(HTTPSFailure) -> Bool {
        guard status >= 200 else {
            interimCount += 1
            guard interimCount <= Self.maximumInterimCount else {
                throw .malformed("There are too many interim responses.")
            }
            state = .statusLine
            return true
        }
        framing = try Self.framing(of: fields)
        if isHead || status == 204 || status == 304 { framing = .none }
        switch framing {
        case .none, .length(0): state = .done
        case .length(let count) where count > limits.bodyByteCount && !cutsLongBody: throw .tooLarge
        default: state = .body
        }
        return true
    }

    /// Returns the framing of the body (RFC 9112 §6.3).
    ///
    /// Throws for a repeated or malformed length, for any coding other than `chunked` alone, and for a length together
    /// with a coding.
    private static func framing(of fields: [FieldLine]) throws(HTTPSFailure) -> Body {
        let lengths = fields.filter { ByteClass.equals("content-length", $0.name) }
        let codings = fields.filter { ByteClass.equals("transfer-encoding", $0.name) }
        guard lengths.isEmpty || codings.isEmpty else {
            throw .malformed(Refusal.contentLengthWithTransferEncoding.sentence)
        }
        if let coding = codings.first {
            guard codings.count == 1, ByteClass.equals("chunked", coding.value) else {
                throw .malformed("The Transfer-Encoding is not chunked alone.")
            }
            return .chunked
        }
        guard let length = lengths.first else { return .rest }
        guard lengths.count == 1 else { throw .malformed(Refusal.contentLengthRepeated.sentence) }
        guard (1...19).contains(length.value.utf8.count), length.value.utf8.allSatisfy(ByteClass.isDigit),
            let count = Int(length.value)
        else { throw .malformed(Refusal.contentLengthSyntax.sentence) }
        return .length(count)
    }

    private mutating func readBody() throws(HTTPSFailure) -> Bool {
        switch framing {
        case .none: state = .done
        case .length(let count):
            let expected = min(count, limits.bodyByteCount)
            body += input.prefix(expected - body.count)
            input.removeAll()
            guard body.count == expected else { return false }
            state = .done
        case .rest:
            body += input
            input.removeAll()
            return try endAtLimit()
        case .chunked: return try readChunks()
        }
        return true
    }

    /// Cuts the body at the limit, and returns whether it was longer; throws `tooLarge` if longer bodies are not cut.
    private mutating func endAtLimit() throws(HTTPSFailure) -> Bool {
        guard body.count > limits.bodyByteCount else { return false }
        guard cutsLongBody else { throw .tooLarge }
        body.removeLast(body.count - limits.bodyByteCount)
        state = .done
        return true
    }

    private mutating func readChunks() throws(HTTPSFailure) -> Bool {
        var used = 0
        let bytes = input
        var limits = limits
        if cutsLongBody { limits.bodyByteCount = .max }
        var decoded = body.take()
        let outcome: ChunkedDecoder.Outcome
        do throws(Refusal) {
            defer { body = decoded }
            outcome = try decoder.decode(bytes.span, into: &decoded, used: &used, limits: limits)
        } catch {
            guard error != .bodyLength else { throw .tooLarge }
            throw .malformed(error.sentence)
        }
        input.removeFirst(used)
        if try endAtLimit() { return true }
        guard outcome != .more else { return false }
        state = .done
        return true
    }
}
