internal import COpenSSL
internal import Foundation
internal import Synchronization

/// A server, over TLS or without, on a free port of the loopback address; it sends exactly the bytes a test chooses.
///
/// Each connection has a thread of its own, on which the test's closure runs.
public final class RawTLSServer: Sendable {
    public struct Failure: Error {}

    public let port: UInt16
    private let listener: Int32
    private let state: State

    /// The state that the connections share.
    private final class State: Sendable {
        let accepted = Atomic<Int>(0)
        let context: Context?

        init(_ context: Context?) { self.context = context }
    }

    // Many threads may use an SSL_CTX while no thread changes it. No thread changes it after `init`.
    @safe private final class Context: @unchecked Sendable {
        let pointer: OpaquePointer

        init(_ certificate: TestCertificate) throws {
            guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw Failure() }
            unsafe pointer = context
            // The sources copy the bytes, and the context retains the certificate and the key.
            let (source, keySource) = unsafe (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
            _ = unsafe BIO_write(source, certificate.certificate, Int32(certificate.certificate.count))
            _ = unsafe BIO_write(keySource, certificate.key, Int32(certificate.key.count))
            let read = unsafe PEM_read_bio_X509(source, nil, nil, nil)
            let key = unsafe PEM_read_bio_PrivateKey(keySource, nil, nil, nil)
            defer {
                unsafe X509_free(read)
                unsafe EVP_PKEY_free(key)
                _ = unsafe BIO_free(source)
                _ = unsafe BIO_free(keySource)
            }
            guard unsafe SSL_CTX_use_certificate(context, read) == 1,
                unsafe SSL_CTX_use_PrivateKey(context, key) == 1
            else { throw Failure() }
        }

        deinit { unsafe SSL_CTX_free(pointer) }
    }

    /// One accepted connection, used on its thread; with TLS, its handshake is done.
    ///
    /// The session belongs to the thread that the value is used on.
    @safe public struct Connection {
        fileprivate let descriptor: Int32
        fileprivate let session: OpaquePointer?

        /// Reads a request without a body, up to its blank line or the end of the connection.
        public func readHead() -> String {
            var text = ""
            while !text.hasSuffix("\r\n\r\n"), let more = receive() { text += more }
            return text
        }

        /// Reads a request with the body that its `Content-Length` announces.
        public func readRequest() -> (head: String, body: String) {
            var text = ""
            while let more = receive() {
                text += more
                guard let end = text.range(of: "\r\n\r\n") else { continue }
                let (head, body) = (String(text[..<end.upperBound]), String(text[end.upperBound...]))
                let length = head.lowercased().components(separatedBy: "content-length: ").last
                    .flatMap { Int($0.prefix { $0.isNumber }) }
                if body.utf8.count >= length ?? 0 { return (head, body) }
            }
            return (text, "")
        }

        /// Waits for bytes; nil at the end of the connection.
        private func receive() -> String? {
            var buffer = [UInt8](repeating: 0, count: 4096)
            // The buffer has room for the count that is passed.
            let count =
                if let session = unsafe session {
                    Int(unsafe SSL_read(session, &buffer, Int32(buffer.count)))
                } else {
                    unsafe recv(descriptor, &buffer, buffer.count, 0)
                }
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }

        /// Writes bytes, and returns whether the system accepted all of them.
        @discardableResult
        public func write(_ bytes: [UInt8]) -> Bool {
            guard !bytes.isEmpty else { return true }
            // SSL_write and send read within the array's memory.
            if let session = unsafe session {
                return unsafe SSL_write(session, bytes, Int32(bytes.count)) == Int32(bytes.count)
            }
            return unsafe Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }

        @discardableResult
        public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        /// Ends the session as TLS requires (close_notify).
        public func sendCloseNotify() { if let session = unsafe session { _ = unsafe SSL_shutdown(session) } }
    }

    /// - Parameters:
    ///   - certificate: nil means no TLS at all.
    ///   - serve: the closure that serves each connection, which is closed afterwards.
    /// - Throws: `Failure` when the system or OpenSSL refuses.
    public init(_ certificate: TestCertificate?, serve: @escaping @Sendable (Connection) -> Void) throws {
        // A client that is gone must not end the test.
        signal(SIGPIPE, SIG_IGN)
        let state = State(try certificate.map { try Context($0) })
        self.state = state
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0, let port = Loopback.listen(listener) else { throw Failure() }
        (self.listener, self.port) = (listener, port)
        Thread.detachNewThread {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    close(listener)
                    return
                }
                state.accepted.add(1, ordering: .sequentiallyConsistent)
                Thread.detachNewThread { Self.serve(descriptor, state, serve) }
            }
        }
    }

    deinit {
        // Ends the accepting thread's wait; the thread then closes the socket.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The number of accepted connections, including those whose handshake failed.
    public var acceptedCount: Int { state.accepted.load(ordering: .sequentiallyConsistent) }

    private static func serve(_ descriptor: Int32, _ state: State, _ serve: (Connection) -> Void) {
        defer { close(descriptor) }
        guard let context = state.context else {
            serve(unsafe Connection(descriptor: descriptor, session: nil))
            return
        }
        // Only this thread uses the session until it is freed.
        guard let session = unsafe SSL_new(context.pointer) else { return }
        defer { unsafe SSL_free(session) }
        unsafe SSL_set_fd(session, descriptor)
        guard unsafe SSL_accept(session) == 1 else { return }
        serve(unsafe Connection(descriptor: descriptor, session: session))
    }
}
