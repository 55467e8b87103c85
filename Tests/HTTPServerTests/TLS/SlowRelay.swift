import Foundation
import Glibc
import Support

/// Relays a connection to a server; it sends the client's bytes to the server one at a time.
///
/// It calls a closure after it has sent the first byte.
final class SlowRelay: Sendable {
    let port: UInt16
    private let listener: Int32

    init(to server: UInt16, afterFirstByte: (@Sendable () -> Void)? = nil) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // The calls read and fill the local value during the closure.
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw RawClient.Failure.cannotConnect }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        Thread.detachNewThread {
            let client = accept(listener, nil, nil)
            let onward = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            Self.connect(onward, to: server)
            Thread.detachNewThread { Self.copy(from: onward, to: client, atOnce: 65_536) }
            Self.copy(from: client, to: onward, atOnce: 1, afterFirst: afterFirstByte)
        }
    }

    deinit { close(listener) }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func connect(_ descriptor: Int32, to port: UInt16) {
        var address = address(port)
        // The call reads the local value.
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var on: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        // The call reads the local value.
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, length)
    }

    private static func copy(
        from source: Int32,
        to target: Int32,
        atOnce maximum: Int,
        afterFirst: (() -> Void)? = nil
    ) {
        var afterFirst = afterFirst
        var buffer = [UInt8](repeating: 0, count: maximum)
        while true {
            // Both calls use the array's own memory, at most its length.
            let count = unsafe recv(source, &buffer, buffer.count, 0)
            guard count > 0, unsafe send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
            afterFirst?()
            afterFirst = nil
        }
        _ = shutdown(target, Int32(SHUT_RDWR))
    }
}
