internal import COpenSSL
internal import Synchronization
package import Threads

/// The keys that encrypt TLS session tickets; all loops and all certificates of a server share them.
///
/// The keys exist only in memory, so that every client makes a full handshake after a restart.
final class TicketKeys: Sendable {
    private typealias Bytes = UnsafeMutablePointer<UInt8>
    /// OpenSSL's contexts of the cipher and of the HMAC of one ticket.
    private typealias Contexts = (cipher: OpaquePointer?, mac: OpaquePointer?)

    private let ring = Mutex(TicketKeyRing())

    /// Lets a context encrypt and decrypt its tickets with these keys, which must outlive it.
    func attach(to context: OpaquePointer) {
        // OpenSSL leaves index 0 to the application. The pointer is not counted: the caller keeps the keys alive.
        unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(self).toOpaque())
        unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(context) { connection, name, vector, cipher, mac, seals in
            guard let context = unsafe SSL_get_SSL_CTX(connection),
                let keys = unsafe SSL_CTX_get_ex_data(context, 0), let name = unsafe name,
                let vector = unsafe vector
            else { return -1 }
            // This is the object that `attach` stored in the context. The context's owner keeps it alive.
            let ticketKeys = unsafe Unmanaged<TicketKeys>.fromOpaque(keys).takeUnretainedValue()
            guard seals == 0 else { return unsafe ticketKeys.seal(name, vector, (cipher, mac)) }
            let isTLS13 = unsafe SSL_version(connection) == TLS1_3_VERSION
            return unsafe ticketKeys.open(name, vector, (cipher, mac), isTLS13: isTLS13)
        }
    }

    /// Prepares to encrypt a ticket: writes the newest key's name and a random vector, and sets up the contexts.
    ///
    /// - Returns: for OpenSSL, 1 if the contexts are ready, 0 for no ticket, -1 for an error.
    private func seal(_ name: Bytes, _ vector: Bytes, _ contexts: Contexts) -> Int32 {
        let key = ring.withLock { $0.sealing(at: .now(), random: Self.random) }
        // OpenSSL's buffers have room for a name and for a vector of 16 bytes.
        guard let key, unsafe RAND_bytes(vector, EVP_MAX_IV_LENGTH) == 1 else { return 0 }
        unsafe name.update(from: key.bytes, count: TicketKeyRing.Key.nameLength)
        return unsafe setUp(contexts, key, vector, seals: true) ? 1 : -1
    }

    /// Prepares to decrypt a ticket: finds the key that the ticket names, and sets up the contexts.
    ///
    /// With TLS 1.3, each ticket is replaced, so that an observer cannot link two connections of a client (RFC 8446
    /// §C.4). With TLS 1.2, a ticket is replaced when its key is not the newest one.
    ///
    /// - Returns: for OpenSSL, 0 for an unknown key, 1 for a known one, 2 to replace the ticket, -1 for an error.
    private func open(_ name: Bytes, _ vector: Bytes, _ contexts: Contexts, isTLS13: Bool) -> Int32 {
        // A name is 16 bytes long.
        let nameBytes = unsafe Array(UnsafeBufferPointer(start: name, count: TicketKeyRing.Key.nameLength))
        let now = MonotonicTime.now()
        let (key, newest) = ring.withLock { ring in
            (ring.opening(named: nameBytes, at: now), ring.sealing(at: now, random: Self.random))
        }
        guard let key else { return 0 }
        guard unsafe setUp(contexts, key, vector, seals: false) else { return -1 }
        return isTLS13 || key != newest ? 2 : 1
    }

    private func setUp(_ contexts: Contexts, _ key: TicketKeyRing.Key, _ vector: Bytes, seals: Bool) -> Bool {
        // In a key, the two secrets follow the name. The call copies them.
        unsafe key.bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            let secrets = unsafe start + TicketKeyRing.Key.nameLength
            let second = unsafe secrets + TicketKeyRing.Key.secretLength
            let (cipher, mac) = unsafe contexts
            return unsafe tls_ticket_ciphers(cipher, mac, secrets, second, vector, seals ? 1 : 0) == 1
        }
    }

    private static func random(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        // RAND_bytes fills the array's own memory.
        return unsafe RAND_bytes(&bytes, Int32(count)) == 1 ? bytes : nil
    }
}

/// The keys of session tickets, newest first.
///
/// A key encrypts new tickets for `rotation`, and decrypts tickets for `sessionLifetime` longer.
package struct TicketKeyRing: Sendable {
    /// How long one key encrypts new tickets.
    package static let rotation: Duration = .seconds(12 * 3600)
    /// How long a session may be resumed.
    package static let sessionLifetime: Duration = .seconds(24 * 3600)

    /// A name, which the key's tickets contain, followed by a secret for AES-256 and a secret for HMAC-SHA-256.
    package struct Key: Sendable, Hashable {
        package static let nameLength = 16
        package static let secretLength = 32
        package static let length = nameLength + 2 * secretLength

        package let bytes: [UInt8]
        let createdAt: MonotonicTime

        package var name: ArraySlice<UInt8> { bytes[..<Self.nameLength] }
    }

    private var keys: [Key] = []

    package init() {}

    /// Returns the key for new tickets; creates one from `random` bytes if there is none or the newest is too old.
    ///
    /// - Returns: `nil` if the function must create a key and `random` returns too few bytes or none.
    package mutating func sealing(at now: MonotonicTime, random: (Int) -> [UInt8]?) -> Key? {
        if let newest = keys.first, now < newest.createdAt.advanced(by: Self.rotation) { return newest }
        guard let bytes = random(Key.length), bytes.count == Key.length else { return nil }
        let key = Key(bytes: bytes, createdAt: now)
        keys.removeAll { now >= $0.createdAt.advanced(by: Self.rotation + Self.sessionLifetime) }
        keys.insert(key, at: 0)
        return key
    }

    /// Returns the key of a name; `nil` if there is none, or if it no longer decrypts tickets.
    package func opening(named name: some Collection<UInt8>, at now: MonotonicTime) -> Key? {
        keys.first { key in
            key.name.elementsEqual(name)
                && now < key.createdAt.advanced(by: Self.rotation + Self.sessionLifetime)
        }
    }
}
