import Glibc

/// A TCP connection to a server under test that sends exactly the bytes a test passes.
///
/// Each wait for bytes from the server lasts at most `patienceMilliseconds`, and then throws `tooSlow`.
public final class RawClient {
    public enum Failure: Error {
        case cannotConnect
        case tooSlow(soFar: String)
        case ended(soFar: String)
        case malformed(String)
        case handshake(String)
    }

    /// A response as it was received.
    public struct Answer: Equatable {
        public var status: Int
        public var fields: [String]
        public var body: String

        /// Returns the value of the first field of a name, in letters of either case; nil if there is none.
        public func field(_ name: String) -> String? {
            let prefix = name.lowercased() + ": "
            return fields.first { $0.lowercased().hasPrefix(prefix) }.map {
                String($0.dropFirst(prefix.count))
            }
        }
    }

    private let descriptor: Int32
    private var isOpen = true
    private var received: [UInt8] = []
    private let patienceMilliseconds: Int32
    /// The TLS session that encrypts all bytes; nil before the handshake.
    private(set) var tls: TLSClientSession?
    /// Whether the last read found that the server has reset the connection.
    public private(set) var wasReset = false

    /// Connects to a port of the loopback address.
    public init(port: UInt16, receiveBufferByteCount: Int32? = nil, patienceMilliseconds: Int32 = 60_000)
        throws
    {
        self.patienceMilliseconds = patienceMilliseconds
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if let receiveBufferByteCount { setOption(SOL_SOCKET, SO_RCVBUF, receiveBufferByteCount) }
        guard Loopback.connect(descriptor, toPort: port) else { throw Failure.cannotConnect }
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    deinit { close() }

    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends all bytes, or as many as the peer accepts before it is gone.
    public func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            if let tls {
                let count = tls.send(bytes[sent...])
                guard count > 0 else { return }
                sent += count
                continue
            }
            // send reads within the array's memory and keeps no pointer.
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Sends bytes unencrypted even on a TLS connection, whose peer then reads a broken record.
    public func sendBypassingTLS(_ bytes: [UInt8]) {
        let session = tls
        tls = nil
        send(bytes)
        tls = session
    }

    /// Reads the next response to its end and returns its body's length, for bodies that are not text.
    public func answerByteCount() throws -> Int {
        let head = try take(through: "\r\n\r\n")
        let field = head.split(separator: "\r\n" as Character).first { $0.hasPrefix("Content-Length: ") }
        guard let length = field.flatMap({ Int($0.dropFirst(16)) }) else { throw Failure.malformed(head) }
        while received.count < length { guard try readMore() else { throw Failure.ended(soFar: "") } }
        received.removeFirst(length)
        return length
    }

    /// Makes the TLS handshake, after which all bytes go through TLS.
    func startTLS(_ settings: TLSClientSettings) throws {
        // OpenSSL writes without MSG_NOSIGNAL.
        _ = signal(SIGPIPE, SIG_IGN)
        var limit = timeval(tv_sec: Int(patienceMilliseconds / 1000), tv_usec: 0)
        // setsockopt reads the local value.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        tls = try TLSClientSession(descriptor, settings)
    }

    /// Ends the sending side: the peer reads the end of the stream.
    public func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes with a reset instead of an end.
    public func reset() {
        // Another client may have the number of a closed descriptor by now.
        guard isOpen else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        // setsockopt reads the local value.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    public func close() {
        guard isOpen else { return }
        isOpen = false
        _ = Glibc.close(descriptor)
    }

    /// Reads the next response; `toHead` means that the response has no body, despite its length field.
    public func answer(toHead: Bool = false) throws -> Answer {
        let head = try take(through: "\r\n\r\n")
        // CR LF is one Character.
        let lines = head.dropLast(2).split(separator: "\r\n" as Character).map(String.init)
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw Failure.malformed(head)
        }
        var answer = Answer(status: status, fields: Array(lines.dropFirst()), body: "")
        if !toHead, let length = answer.field("content-length").flatMap({ Int($0) }) {
            answer.body = try take(count: length)
        } else if !toHead, answer.field("transfer-encoding") == "chunked" {
            while let size = Int(try take(through: "\r\n").dropLast(), radix: 16), size > 0 {
                answer.body += try take(count: size)
                _ = try take(count: 2)
            }
            _ = try take(count: 2)
        }
        return answer
    }

    /// Reads everything up to the end of the stream; a reset counts as an end.
    public func rest() throws -> String {
        while try readMore() {}
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// Returns whether no byte is unread and the peer sends nothing for the given time.
    public func isSilent(milliseconds: Int32) -> Bool {
        received.isEmpty && !isReadable(milliseconds: milliseconds)
    }

    /// Waits until a connection has bytes to read, and returns for each connection whether it has.
    ///
    /// One call of the system asks for all of them.
    public static func areReadable(_ clients: [RawClient], milliseconds: Int32) -> [Bool] {
        var entries = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let isAnyUnread = clients.contains { !$0.received.isEmpty }
        // The call reads and fills the array's entries.
        _ = unsafe poll(&entries, nfds_t(entries.count), isAnyUnread ? 0 : milliseconds)
        return zip(clients, entries).map { !$0.received.isEmpty || $1.revents != 0 }
    }

    // MARK: Reading

    private func take(through end: String) throws -> String {
        let end = Array(end.utf8)
        while true {
            if let index = received.firstIndex(of: end) { return removeFirst(index + end.count) }
            guard try readMore() else {
                throw Failure.ended(soFar: String(decoding: received, as: UTF8.self))
            }
        }
    }

    private func take(count: Int) throws -> String {
        while received.count < count {
            guard try readMore() else {
                throw Failure.ended(soFar: String(decoding: received, as: UTF8.self))
            }
        }
        return removeFirst(count)
    }

    private func removeFirst(_ count: Int) -> String {
        defer { received.removeFirst(count) }
        return String(decoding: received.prefix(count), as: UTF8.self)
    }

    /// Reads the next bytes; returns `false` at the end of the stream.
    private func readMore() throws -> Bool {
        guard tls?.hasPending == true || isReadable(milliseconds: patienceMilliseconds) else {
            throw Failure.tooSlow(soFar: String(decoding: received, as: UTF8.self))
        }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        // recv writes at most the array's length and keeps no pointer.
        let count =
            if let tls { tls.receive(&buffer) } else {
                unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            }
        if count < 0, tls == nil, errno == ECONNRESET { wasReset = true }
        guard count > 0 else { return false }
        received += buffer.prefix(count)
        return true
    }

    private func isReadable(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // The one entry is valid during the call.
        return unsafe poll(&entry, 1, milliseconds) > 0
    }

    private func setOption(_ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        // setsockopt reads the local value.
        unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension [UInt8] {
    /// The index at which a run of bytes first starts.
    fileprivate func firstIndex(of run: [UInt8]) -> Int? {
        guard count >= run.count else { return nil }
        return (0...count - run.count).first { self[$0] == run[0] && Array(self[$0..<$0 + run.count]) == run }
    }
}
