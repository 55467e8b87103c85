/// The reason why a document is not JSON, and its position.
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
    /// The position of the defect, in bytes from the document's start.
    public let byteOffset: Int

    init(_ reason: Reason, at byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }

    /// One sentence for the caller, with the position unless the document is empty; it quotes no part of the document.
    public var message: String { reason == .empty ? sentence : "\(sentence) (at byte \(byteOffset))" }

    /// The message without the position.
    public var sentence: String {
        switch reason {
        case .empty: "the document is empty; send one JSON value"
        case .byteOrderMark: "the document begins with a byte order mark; send plain UTF-8"
        case .invalidUTF8: "the document is not UTF-8"
        case .unexpectedByte: "a byte that JSON does not allow at this position"
        case .unexpectedEnd: "the document ends too early"
        case .trailingBytes: "bytes after the end of the document"
        case .malformedNumber: "a malformed number"
        case .controlCharacter: "a control character inside a string; write it as an escape such as \\n"
        case .malformedEscape: "a malformed escape inside a string"
        case .loneSurrogate: "half a surrogate pair, which is not a character"
        case .duplicateName: "a name that the object already has"
        case .tooDeep: "arrays and objects nested deeper than \(JSONReader.maximumDepth) levels"
        }
    }
}
