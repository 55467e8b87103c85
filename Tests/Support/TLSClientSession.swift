internal import COpenSSL
internal import Glibc

/// The TLS settings of a test's client.
public struct TLSClientSettings: Sendable {
    public enum Version: Int32, Sendable, CaseIterable {
        case tls10 = 0x0301
        case tls11 = 0x0302
        case tls12 = 0x0303
        case tls13 = 0x0304
    }

    public var minimumVersion = Version.tls12
    public var maximumVersion = Version.tls13
    /// Cipher suites up to TLS 1.2, in the format of `openssl ciphers`; nil for OpenSSL's default.
    public var cipherList: String?
    /// Cipher suites of TLS 1.3; nil for OpenSSL's default.
    public var cipherSuites: String?
    public var groups: String?
    /// Protocol names that the client offers by ALPN; it offers nothing if the list is empty.
    public var protocols: [String] = []
    public var session: SavedTLSSession?

    public init() {}

    /// Allows only one version.
    public init(_ version: Version, resuming session: SavedTLSSession? = nil) {
        minimumVersion = version
        maximumVersion = version
        self.session = session
    }
}

/// A session that another connection may resume.
// The object owns one reference to the OpenSSL session; OpenSSL counts references atomically.
@safe public final class SavedTLSSession: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe SSL_SESSION_free(pointer) }
}

/// The client's side of a TLS connection over a socket that blocks.
// Only this object uses its handles.
@safe final class TLSClientSession {
    // All connections share the context, which OpenSSL locks and counts; settings belong to each connection.
    nonisolated(unsafe) private static let context = unsafe SSL_CTX_new(TLS_client_method())
    private let connection: OpaquePointer

    /// Makes the handshake; throws OpenSSL's reason when it fails.
    init(_ descriptor: Int32, _ settings: TLSClientSettings) throws {
        ERR_clear_error()
        guard let connection = unsafe SSL_new(Self.context) else { throw Self.failure() }
        unsafe self.connection = connection
        // Tests expect the server to refuse old versions, so OpenSSL's client must offer them.
        unsafe SSL_set_security_level(connection, 0)
        let (oldest, newest) = (settings.minimumVersion.rawValue, settings.maximumVersion.rawValue)
        unsafe SSL_ctrl(connection, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(oldest), nil)
        unsafe SSL_ctrl(connection, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(newest), nil)
        if let list = settings.cipherList { unsafe SSL_set_cipher_list(connection, list) }
        if let suites = settings.cipherSuites { unsafe SSL_set_ciphersuites(connection, suites) }
        if var groups = settings.groups.map({ Array($0.utf8CString) }) {
            unsafe SSL_ctrl(connection, SSL_CTRL_SET_GROUPS_LIST, 0, &groups)
        }
        if !settings.protocols.isEmpty {
            let names = settings.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            unsafe SSL_set_alpn_protos(connection, names, UInt32(names.count))
        }
        if let session = settings.session { unsafe SSL_set_session(connection, session.pointer) }
        unsafe SSL_set_fd(connection, descriptor)
        guard unsafe SSL_connect(connection) == 1 else { throw Self.failure() }
    }

    deinit {
        // Otherwise OpenSSL would not resume the session, because its connection ended without an alert.
        unsafe SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN)
        unsafe SSL_free(connection)
    }

    var version: TLSClientSettings.Version? {
        unsafe TLSClientSettings.Version(rawValue: SSL_version(connection))
    }

    var isResumed: Bool { unsafe SSL_session_reused(connection) == 1 }
    var cipherName: String { unsafe String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(connection))) }

    /// The protocol that ALPN selected; `nil` without one.
    var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(connection, &name, &length)
        guard let name = unsafe name, length > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// The common name of the server's certificate.
    var serverName: String {
        guard let certificate = unsafe SSL_get1_peer_certificate(connection) else { return "" }
        defer { unsafe X509_free(certificate) }
        var text = [CChar](repeating: 0, count: 256)
        unsafe X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, &text, 256)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The session that another connection may resume; with TLS 1.3 only after a response was read.
    var session: SavedTLSSession? { unsafe SSL_get1_session(connection).map { unsafe SavedTLSSession($0) } }

    var hasPending: Bool { unsafe SSL_pending(connection) > 0 }

    /// Whether the server has ended the session (close_notify).
    var receivedCloseNotify: Bool { unsafe SSL_get_shutdown(connection) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// Sends bytes, and returns how many were sent; 0 or less if the connection cannot send.
    func send(_ bytes: ArraySlice<UInt8>) -> Int {
        ERR_clear_error()
        return unsafe bytes.withUnsafeBufferPointer {
            unsafe Int(SSL_write(connection, $0.baseAddress, Int32($0.count)))
        }
    }

    /// Reads bytes, and returns how many were read; 0 or less at the end.
    func receive(_ buffer: inout [UInt8]) -> Int {
        ERR_clear_error()
        return unsafe Int(SSL_read(connection, &buffer, Int32(buffer.count)))
    }

    /// Requests new keys for both directions.
    func updateKeys() { unsafe SSL_key_update(connection, SSL_KEY_UPDATE_REQUESTED) }

    /// Sends new keys without other data, and requests the server's; returns whether they could be sent.
    func sendKeys() -> Bool {
        ERR_clear_error()
        return unsafe SSL_key_update(connection, SSL_KEY_UPDATE_REQUESTED) == 1
            && SSL_do_handshake(connection) == 1
    }

    /// Requests another handshake within the connection; returns whether the server agreed.
    func renegotiate() -> Bool {
        ERR_clear_error()
        return unsafe SSL_renegotiate(connection) == 1 && SSL_do_handshake(connection) == 1
    }

    /// Ends the session (close_notify).
    func end() { unsafe SSL_shutdown(connection) }

    private static func failure() -> RawClient.Failure {
        let reason = unsafe ERR_reason_error_string(ERR_peek_last_error()).map { unsafe String(cString: $0) }
        return .handshake(reason ?? "the connection ended")
    }
}
