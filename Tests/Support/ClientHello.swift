internal import COpenSSL

/// The first bytes that a TLS client sends.
public enum ClientHello {
    /// Returns a TLS 1.3 client's first flight, as OpenSSL makes it.
    public static func bytes() throws -> [UInt8] {
        // The connection owns its input and its output. It and the context are freed at the end of this function.
        let context = unsafe SSL_CTX_new(TLS_client_method())
        let connection = unsafe SSL_new(context)
        defer {
            unsafe SSL_free(connection)
            unsafe SSL_CTX_free(context)
        }
        let output = unsafe BIO_new(BIO_s_mem())
        unsafe SSL_set_bio(connection, BIO_new(BIO_s_mem()), output)
        ERR_clear_error()
        unsafe SSL_connect(connection)
        var bytes = [UInt8](repeating: 0, count: 16_384)
        // BIO_read writes at most the array's length.
        let count = unsafe BIO_read(output, &bytes, Int32(bytes.count))
        guard count > 0 else { throw RawClient.Failure.handshake("no client hello was made") }
        return Array(bytes.prefix(Int(count)))
    }
}
