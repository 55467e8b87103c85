public import Attribution

/// The keyring of a database that several servers share, and the keys that each of them reports.
///
/// The rows are encrypted: a database never contains the secret that opens them. The functions wait for the database, so
/// an event loop must not call them; any other thread may.
public protocol KeyringRows: Sendable {
    /// Returns every row, in any order.
    func rows() throws(StoreError) -> [KeyringRow]

    /// Inserts a row unless there is a row with its number or a higher one, in one step for all servers.
    ///
    /// - Returns: whether the row was inserted. If not, another server has changed the keyring.
    func insert(_ row: KeyringRow) throws(StoreError) -> Bool

    /// Deletes a row if it exists.
    func delete(number: Int64) throws(StoreError)

    /// Returns the running servers: the servers that have written to the database in the last 30 seconds.
    func servers() throws(StoreError) -> [KeyHolder]

    /// Stores the keys of this server; does nothing for a command, which is no server.
    func report(_ keys: HeldKeys) throws(StoreError)
}

/// A row of the keyring: all keys of one kind, encrypted.
public struct KeyringRow: Equatable, Sendable {
    /// The raw value is the word in the database.
    public enum Kind: String, CaseIterable, Sendable {
        case server
        case addresses
    }

    /// From 1; of the rows of one kind, the one with the highest number counts.
    public let number: Int64
    public let kind: Kind
    public let wrapped: [UInt8]
    public let madeAt: Timestamp

    public init(number: Int64, kind: Kind, wrapped: [UInt8], madeAt: Timestamp) {
        (self.number, self.kind, self.wrapped, self.madeAt) = (number, kind, wrapped, madeAt)
    }
}

/// A running server, and the keys that it has reported.
public struct KeyHolder: Equatable, Sendable {
    public let number: Int64
    /// Whether it is the caller's own process.
    public let isThisServer: Bool
    /// Nil for a server that is just starting.
    public let keys: HeldKeys?

    public init(number: Int64, isThisServer: Bool, keys: HeldKeys?) {
        (self.number, self.isThisServer, self.keys) = (number, isThisServer, keys)
    }
}

/// The keys under which a server finds clicks, as check values, which identify keys and reveal nothing of them.
public struct HeldKeys: Equatable, Sendable {
    /// The first words of the check values of the server keys; new clicks are stored under the first key.
    public let server: [UInt64]
    /// The first word of the check value of the address key of ``addressDay``.
    public let addresses: UInt64
    /// A future day, by ``AddressKeys/day(of:)``, whose key all servers can derive.
    public let addressDay: Int64

    public init(server: [UInt64], addresses: UInt64, addressDay: Int64) {
        (self.server, self.addresses, self.addressDay) = (server, addresses, addressDay)
    }

    /// Reads what ``bytes`` returns; nil for other bytes, and for none.
    public init?(bytes: [UInt8]) {
        guard bytes.count >= 24, bytes.count.isMultiple(of: 8) else { return nil }
        let words = bytes.unpackedWords
        self.init(server: Array(words[2...]), addresses: words[1], addressDay: Int64(bitPattern: words[0]))
    }

    /// The day, the check value of its address key, and the check values of the server keys: 8 bytes each,
    /// lowest byte first.
    public var bytes: [UInt8] { [UInt8](packing: [UInt64(bitPattern: addressDay), addresses] + server) }
}
