#if PostgreSQL
import Glibc
import Support
import Threads

/// A server between client and PostgreSQL that drops the parameter `options` of a connection, as PgBouncer can.
///
/// It serves one connection and ends with it.
struct PoolerStandIn {
    let port: UInt16

    /// - Parameter serverPort: the port of PostgreSQL on 127.0.0.1.
    /// - Throws: if the system refuses a thread.
    init?(to serverPort: UInt16) throws {
        let listener = Self.newSocket()
        guard let port = Loopback.listen(listener) else { return nil }
        self.port = port
        try SystemThread.start {
            let client = accept(listener, nil, nil)
            close(listener)
            let server = Self.newSocket()
            guard client >= 0, Loopback.connect(server, toPort: serverPort), Self.copyStart(client, server)
            else {
                return
            }
            try? SystemThread.start { Self.copy(from: server, to: client) }
            Self.copy(from: client, to: server)
        }
    }

    private static func newSocket() -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    /// Copies the first message (a length, a version, and pairs of names and values) without the pair
    /// `options`.
    private static func copyStart(_ client: Int32, _ server: Int32) -> Bool {
        var message = [UInt8](repeating: 0, count: 4096)
        // The call writes at most the array's size. The client sends the message at once.
        let count = unsafe recv(client, &message, message.count, 0)
        guard count > 8 else { return false }
        let words = message[8..<count - 1].split(separator: 0, omittingEmptySubsequences: false).dropLast()
        var kept = Array(message[4..<8])
        for (name, value) in zip(words, words.dropFirst()).enumerated().filter({ $0.offset % 2 == 0 }).map(
            \.element
        )
        where String(decoding: name, as: UTF8.self) != "options" {
            kept += name + [0] + value + [0]
        }
        kept.append(0)
        let length = UInt32(kept.count + 4)
        kept = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + kept
        // The call reads the array.
        return unsafe send(server, kept, kept.count, Int32(MSG_NOSIGNAL)) == kept.count
    }

    private static func copy(from source: Int32, to target: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            // The call writes at most the array's size.
            let count = unsafe recv(source, &buffer, buffer.count, 0)
            // The call reads the bytes that were received.
            guard count > 0, unsafe send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else {
                break
            }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }
}
#endif
