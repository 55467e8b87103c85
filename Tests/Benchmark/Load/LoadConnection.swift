import CLinux
import Glibc
import Support

/// A connection of a load: one request at a time.
final class LoadConnection {
    private(set) var descriptor: Int32 = -1
    /// The time at which the current request should have been sent, in nanoseconds; nil without a request.
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

    /// Sends a request; returns false when the connection cannot be used any more.
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

    /// Reads the bytes that have arrived.
    func receive() -> Progress {
        guard filled < buffer.count else { return .ended }
        // recv writes at most the rest of the array's memory and keeps no pointer.
        let count = unsafe buffer.withUnsafeMutableBytes { memory in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[filled...])
            return unsafe recv(descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT))
        }
        if count < 0, errno == EAGAIN { return .unfinished }
        guard count > 0 else { return .ended }
        filled += count
        guard let end = ResponseBytes.end(of: buffer.span, count: filled), end <= filled else {
            return .unfinished
        }
        filled = 0
        // Byte 9 is the first digit of the status in "HTTP/1.1 200".
        return .answered(isGood: buffer[9] == UInt8(ascii: "2"))
    }
}

/// Parses just enough of HTTP to find the end of a response.
package enum ResponseBytes {
    private static let lengthName = Array("content-length:".utf8)

    /// Returns the position after the response once its head is complete; its body may still be on the way.
    package static func end(of bytes: Span<UInt8>, count: Int) -> Int? {
        var (line, length, index) = (0, 0, 1)
        while index < count {
            defer { index += 1 }
            guard bytes[index] == 10, bytes[index - 1] == 13 else { continue }
            if index == line + 1 { return index + 1 + length }
            length = contentLength(bytes, from: line, to: index) ?? length
            line = index + 1
        }
        return nil
    }

    /// Returns the value of a line with the field Content-Length; nil for other lines.
    private static func contentLength(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
        guard end - start > lengthName.count else { return nil }
        for (offset, letter) in lengthName.enumerated() where bytes[start + offset] | 0x20 != letter | 0x20 {
            return nil
        }
        var number = 0
        for index in start + lengthName.count..<end where 48...57 ~= bytes[index] {
            number = number * 10 + Int(bytes[index] - 48)
        }
        return number
    }
}
