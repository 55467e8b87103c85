import CLinux
import Glibc
import Support

/// A connection of a load: one request at a time.
final class LoadConnection {
    private(set) var descriptor: Int32 = -1
    /// When the request under way should have been sent, in nanoseconds; nil while there is none.
    var intendedAt: UInt64?
    private var buffer = [UInt8](repeating: 0, count: 4096)
    private var filled = 0

    deinit { close() }

    func open(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard Loopback.connect(descriptor, toPort: port) else {
            throw BenchmarkError("A load cannot connect to port \(port): error \(errno).")
        }
        _ = linux_set_option(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        filled = 0
    }

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Sends a request; false when the connection is of no use any more.
    func send(_ bytes: [UInt8]) -> Bool {
        // send reads within the array's memory and keeps no pointer. A request is far smaller than a socket's buffer.
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        return count == bytes.count
    }

    enum Progress {
        case unfinished
        case answered(isGood: Bool)
        case ended
    }

    /// Reads what is there.
    func receive() -> Progress {
        guard filled < buffer.count else { return .ended }
        // recv writes at most what is left of the array's memory and keeps no pointer.
        let count = unsafe buffer.withUnsafeMutableBytes { memory in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[filled...])
            return unsafe recv(descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT))
        }
        if count < 0, errno == EAGAIN { return .unfinished }
        guard count > 0 else { return .ended }
        filled += count
        guard let end = AnswerBytes.end(of: buffer.span, count: filled), end <= filled else {
            return .unfinished
        }
        filled = 0
        // "HTTP/1.1 200"
        return .answered(isGood: buffer[9] == UInt8(ascii: "2"))
    }
}

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
