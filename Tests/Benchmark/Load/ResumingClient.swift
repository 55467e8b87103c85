import COpenSSL
import Glibc

/// A TLS 1.3 client that keeps the session of its last connection for the next one.
///
/// Safe to use, because the pointers are live from `init` to `deinit`; belongs to one thread.
@safe final class ResumingClient {
    enum Outcome {
        case answered(isResumed: Bool)
        case failed
    }

    private let context: OpaquePointer
    private var session: OpaquePointer?
    private let port: UInt16

    init(port: UInt16) throws {
        // A new context, or nil.
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw BenchmarkError("OpenSSL has no client.")
        }
        unsafe self.context = context
        self.port = port
        // The context is live, and the option takes no pointer.
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_3_VERSION), nil)
    }

    deinit {
        // Both were made for this value and are used no more; nil is allowed.
        unsafe SSL_SESSION_free(session)
        unsafe SSL_CTX_free(context)
    }

    /// Sends a request that asks for a close on a connection of its own, and reads to its end.
    func ask(_ request: [UInt8]) -> Outcome {
        let connection = LoadConnection()
        guard (try? connection.open(port: port)) != nil else { return .failed }
        // A new connection of the live context, or nil; freed below.
        guard let tls = unsafe SSL_new(context) else { return .failed }
        defer { unsafe SSL_free(tls) }
        // Both are live; the session is shared by counting.
        guard unsafe SSL_set_fd(tls, connection.descriptor) == 1 else { return .failed }
        if let session = unsafe session { _ = unsafe SSL_set_session(tls, session) }
        // The connection is live; the request's bytes are read during the call.
        guard unsafe SSL_connect(tls) == 1 else { return .failed }
        let written = unsafe request.withUnsafeBytes {
            unsafe SSL_write(tls, $0.baseAddress, Int32($0.count))
        }
        guard Int(written) == request.count else { return .failed }
        guard unsafe readToEnd(tls) else { return .failed }
        unsafe keepSession(of: tls)
        // OpenSSL gives up the session of a connection that is freed without having been closed; the server has closed.
        unsafe SSL_set_shutdown(tls, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        // The connection is live.
        return .answered(isResumed: unsafe SSL_session_reused(tls) == 1)
    }

    /// Whether the answer says 200.
    private func readToEnd(_ tls: OpaquePointer) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var isGood = false
        var isFirst = true
        while true {
            // OpenSSL writes at most the array's length.
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe SSL_read(tls, $0.baseAddress, Int32($0.count))
            }
            guard count > 0 else { return isGood }
            // "HTTP/1.1 200"
            if isFirst { isGood = count > 12 && buffer[9] == UInt8(ascii: "2") }
            isFirst = false
        }
    }

    /// Tickets of TLS 1.3 come after the handshake, with the answer.
    private func keepSession(of tls: OpaquePointer) {
        // The connection is live; the session is ours from here on, the one before is given up.
        guard let new = unsafe SSL_get1_session(tls) else { return }
        unsafe SSL_SESSION_free(session)
        unsafe session = new
    }
}
