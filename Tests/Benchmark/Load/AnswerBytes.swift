/// Just enough of HTTP to see where an answer ends.
package enum AnswerBytes {
    private static let lengthName = Array("content-length:".utf8)

    /// Where the answer ends, once its head is whole; its body may still be on the way.
    package static func end(of bytes: Span<UInt8>, count: Int) -> Int? {
        var length = 0
        var line = 0
        while let next = lineEnd(bytes, from: line, count: count) {
            if next == line { return next + 2 + length }
            if isLength(bytes, from: line, to: next) {
                length = number(bytes, from: line + lengthName.count, to: next)
            }
            line = next + 2
        }
        return nil
    }

    /// Where the line that starts here has its CR.
    private static func lineEnd(_ bytes: Span<UInt8>, from start: Int, count: Int) -> Int? {
        var index = start
        while index + 1 < count {
            if bytes[index] == 13, bytes[index + 1] == 10 { return index }
            index += 1
        }
        return nil
    }

    private static func isLength(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Bool {
        guard end - start > lengthName.count else { return false }
        for (offset, letter) in lengthName.enumerated() where bytes[start + offset] | 0x20 != letter | 0x20 {
            return false
        }
        return true
    }

    private static func number(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        var number = 0
        for index in start..<end where bytes[index] >= 48 && bytes[index] <= 57 {
            number = number * 10 + Int(bytes[index] - 48)
        }
        return number
    }
}
