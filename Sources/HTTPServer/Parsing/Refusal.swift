/// The reason why the server refuses a request or a connection.
///
/// The raw value is the sentence that the client gets. It contains no byte of the request.
package enum Refusal: String, Error, Hashable, Sendable, CaseIterable {
    // The request line (RFC 9112 §2, §3).
    case emptyLines = "There is more than one empty line before the request line."
    case methodSyntax = "The method is not a token followed by one space."
    case methodLength = "The method is too long."
    case methodUnknown = "The method is not implemented here."
    case targetSyntax = "The request target contains a character that must be percent-encoded."
    case targetForm = "The request target is neither a path nor an http or https URL that fits the method."
    case targetFragment = "The request target has a fragment."
    case targetLength = "The request target is too long."
    case versionSyntax = "The HTTP version is malformed."
    case versionUnsupported = "This server speaks HTTP/1.1 and HTTP/1.0."
    case requestLineEnd = "The request line does not end in CR LF right after the version."

    // Field lines (RFC 9112 §5, RFC 9110 §5).
    case whiteSpaceBeforeFields = "There is white space before the first field line."
    case foldedLine = "A field line is folded."
    case fieldNameEmpty = "A field line has no name."
    case fieldNameSyntax = "A field name is not a token."
    case whiteSpaceBeforeColon = "A field name is followed by white space instead of its colon."
    case missingColon = "A field line has no colon."
    case fieldValueSyntax = "A field value contains a control character."
    case bareCarriageReturn = "A CR is not followed by LF."
    case bareLineFeed = "An LF is not preceded by CR."
    case fieldsLength = "The field lines are too long."
    case fieldsCount = "There are too many field lines."

    // The values of the fields that HTTP itself needs (RFC 9112 §3.2, §6, RFC 9110 §10.1.1).
    case hostMissing = "The Host field is missing."
    case hostRepeated = "The Host field is repeated."
    case hostSyntax = "The host is malformed."
    case contentTypeRepeated = "The Content-Type is repeated."
    case contentLengthSyntax = "The Content-Length is not a number of 1 to 19 digits."
    case contentLengthRepeated = "The Content-Length is repeated."
    case contentLengthWithTransferEncoding = "Content-Length and Transfer-Encoding exclude each other."
    case transferEncodingSyntax = "The Transfer-Encoding is malformed."
    case transferEncodingOrder = "The chunked coding must come once, and last."
    case transferEncodingUnknown = "The only transfer coding implemented here is chunked."
    case transferEncodingInHTTP10 = "HTTP/1.0 has no Transfer-Encoding."
    case expectationUnknown = "The only expectation known here is 100-continue."

    // The body (RFC 9112 §6, §7).
    case bodyLength = "The body is too large."
    case chunkSizeSyntax = "A chunk size is not hexadecimal digits ended by CR LF."
    case chunkSizeLength = "A chunk size has more than 8 digits."
    case chunkExtensionSyntax = "A chunk extension is malformed."
    case chunkExtensionLength = "A chunk extension is too long."
    case chunkDataEnd = "A chunk's data is not followed by CR LF."
    case trailerCount = "There are too many trailer fields."
    case trailerForbidden = "A trailer field must not set host, length or coding."

    // The connection.
    case endedEarly = "The connection ended before the request did."
    case headTooSlow = "The request line and fields took too long."
    case bodyTooSlow = "The body took too long."
    case tooManyConnections = "Too many connections are open."
    case memoryExhausted = "The requests in progress hold too much memory."
    case tlsMissing = "This port speaks HTTPS only."

    /// The kind of the refusal, which determines the status code.
    package var kind: Rejection.Kind {
        switch self {
        case .methodUnknown, .transferEncodingUnknown: .notImplemented
        case .targetLength: .targetTooLong
        case .versionUnsupported: .versionNotSupported
        case .fieldsLength, .fieldsCount: .fieldsTooLarge
        case .expectationUnknown: .expectationUnknown
        case .bodyLength: .bodyTooLarge
        case .headTooSlow, .bodyTooSlow: .tooSlow
        case .tooManyConnections, .memoryExhausted: .overloaded
        default: .malformed
        }
    }

    package var sentence: String { rawValue }
}
