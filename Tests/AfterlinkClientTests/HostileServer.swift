import Foundation
import Synchronization
import Support

/// A server whose answers a test chooses byte by byte.
///
/// Each connection serves one request on a thread of its own.
final class HostileServer: Sendable {
    struct Request: Sendable {
        let path: String
        let head: String
        let body: Data
        /// When the server had received the whole request.
        let time: ContinuousClock.Instant

        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body) as? [String: Any]) ?? [:] }
    }

    enum Part: Sendable {
        case text(String)
        case pause(seconds: Double)
        /// Waits until the client ends the connection, and then calls the closure.
        case untilClosed(@Sendable () -> Void)
    }

    struct Failure: Error {}

    let port: UInt16
    private let listener: Int32
    private let state: State

    private final class State: Sendable {
        let requests = Mutex<[Request]>([])
    }

    var requests: [Request] { state.requests.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(port)" }

    /// - Parameters:
    ///   - isIPv6: whether the server listens at `::1` only.
    ///   - answer: returns what to send for a request; called with the number of the request, from 0.
    /// - Throws: `Failure` when the system refuses.
    init(isIPv6: Bool = false, _ answer: @escaping @Sendable (Request, Int) -> [Part]) throws {
        signal(SIGPIPE, SIG_IGN)
        let family = isIPv6 ? AF_INET6 : AF_INET
        let listener = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0, let port = isIPv6 ? Self.listenIPv6(listener) : Loopback.listen(listener) else {
            throw Failure()
        }
        let state = State()
        (self.listener, self.port, self.state) = (listener, port, state)
        Thread.detachNewThread {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    close(listener)
                    return
                }
                Thread.detachNewThread {
                    Self.serve(descriptor, state, answer)
                    close(descriptor)
                }
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Returns a complete response.
    static func response(_ status: String, _ body: String, headers: [String] = []) -> Part {
        let lines = ["HTTP/1.1 \(status)", "Content-Type: application/json", "Connection: close"] + headers
        return .text((lines + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n"))
    }

    private static func serve(_ descriptor: Int32, _ state: State, _ answer: (Request, Int) -> [Part]) {
        guard let request = read(descriptor) else { return }
        let number = state.requests.withLock { requests in
            requests.append(request)
            return requests.count - 1
        }
        for part in answer(request, number) {
            switch part {
            case .text(let text):
                let bytes = Array(text.utf8)
                // The array has the count that is passed.
                guard unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                    return
                }
            case .pause(let seconds): Thread.sleep(forTimeInterval: seconds)
            case .untilClosed(let end):
                var byte: UInt8 = 0
                // The buffer has room for the one byte.
                while unsafe recv(descriptor, &byte, 1, 0) > 0 {}
                end()
            }
        }
    }

    private static func read(_ descriptor: Int32) -> Request? {
        var (bytes, buffer) = (Data(), [UInt8](repeating: 0, count: 4096))
        while true {
            if let end = bytes.range(of: Data("\r\n\r\n".utf8)) {
                let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                let field = head.lowercased().split(separator: "\r\n").first {
                    $0.hasPrefix("content-length:")
                }
                let length = field.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
                if bytes.count - end.upperBound >= length {
                    let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                    let body = Data(bytes[end.upperBound...])
                    return Request(path: path, head: head, body: body, time: .now)
                }
            }
            // The buffer has room for the count that is passed.
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
        }
    }

    private static func listenIPv6(_ descriptor: Int32) -> UInt16? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // bind reads and getsockname writes at most `length` bytes of the address; neither keeps a pointer.
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard unsafe bind(descriptor, $0, length) == 0, listen(descriptor, 64) == 0 else {
                    return Int32(-1)
                }
                return unsafe getsockname(descriptor, $0, &length)
            }
        }
        return result == 0 ? UInt16(bigEndian: address.sin6_port) : nil
    }
}
