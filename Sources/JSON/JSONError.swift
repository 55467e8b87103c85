/// Why a document is not JSON, and where.
public struct JSONError: Error, Equatable, Sendable {
    public enum Reason: Equatable, CaseIterable, Sendable {
        case empty
        case byteOrderMark
        case invalidUTF8
        case unexpectedByte
        case unexpectedEnd
        case trailingBytes
        case malformedNumber
        case controlCharacter
        case malformedEscape
        case loneSurrogate
        case duplicateName
        case tooDeep
    }

    public let reason: Reason
    /// Bytes before the place where reading stopped.
    public let byteOffset: Int

    init(_ reason: Reason, at byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }

    /// One sentence for the caller.
    ///
    /// Holds nothing of the document.
    public var message: String {
        reason == .empty ? sentence : "\(sentence) (at byte \(byteOffset))"
    }

    /// The same without the place.
    public var sentence: String {
        switch reason {
        case .empty: "the document is empty; send one JSON value"
        case .byteOrderMark: "the document begins with a byte order mark; send plain UTF-8"
        case .invalidUTF8: "the document is not UTF-8"
        case .unexpectedByte: "a byte that JSON does not allow in this place"
        case .unexpectedEnd: "the document ends too early"
        case .trailingBytes: "something follows the document's end"
        case .malformedNumber: "a malformed number"
        case .controlCharacter: "a control character inside a string; write it as an escape such as \\n"
        case .malformedEscape: "a malformed escape inside a string"
        case .loneSurrogate: "half a surrogate pair, which is no character"
        case .duplicateName: "a name that the same object has already"
        case .tooDeep: "arrays and objects deeper than \(JSONReader.maximumDepth) levels"
        }
    }
}
