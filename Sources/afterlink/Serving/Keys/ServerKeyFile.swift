internal import Attribution
internal import Crypto
internal import Glibc
internal import Server

/// The file of the server keys, whose content is a ``ServerKeyList``.
struct ServerKeyFile {
    let path: String
    /// Whether a group may read the file, as in ``SecretFile/isShared``.
    var isShared = false

    private var file: SecretFile { SecretFile(path: path, isShared: isShared) }
    /// A stamp that changes with the file; empty if there is no file.
    var stamp: [Int] { file.stamp }

    /// Returns the keys in the file; creates a key for a new database without a file.
    ///
    /// - Parameter databaseIsNew: whether nothing in the database depends on a key.
    /// - Returns: the keys.
    /// - Throws: if the file is missing and needed, damaged, or open to other users.
    func open(databaseIsNew: Bool) throws -> ServerKeyList {
        if databaseIsNew, !TextFile.exists(path) {
            let key = ServerKeyList.Entry(bytes: SystemRandom.bytes(ServerKey.byteCount))
            try file.make(ServerKeyList([key]).text, outOfReach)
        }
        try requireReach()
        guard TextFile.exists(path) else {
            throw CommandFailure.configuration(
                "The server key \(path) is missing: without it, no click can be found."
            ).advising("Restore it from the backup, or name it with --server-key-file.")
        }
        guard let list = ServerKeyList(try file.secret("server key", of: "its", outOfReach)) else {
            throw CommandFailure.configuration(
                "The server keys \(path) are damaged: each line must hold 64 hexadecimal digits."
            ).advising("Restore the file from the backup; with another key, no click can be found.")
        }
        return list
    }

    /// - Throws: if this user may not enter the file's folder, so that the file would seem to be missing.
    func requireReach() throws { if let error = TextFile.reachError(of: path) { throw outOfReach(error) } }

    /// Changes the file in one step, under a lock.
    ///
    /// - Parameters:
    ///   - erasesFormer: whether the previous content is destroyed.
    ///   - body: returns the keys that replace the current ones; nil to change nothing.
    /// - Returns: the keys that the file contains now.
    /// - Throws: if the file cannot be read or changed.
    @discardableResult
    func change(
        erasesFormer: Bool = false,
        _ body: (ServerKeyList) throws -> ServerKeyList?
    ) throws -> ServerKeyList {
        try file.withLock {
            let list = try open(databaseIsNew: false)
            guard let changed = try body(list) else { return list }
            try attempt(orElse: outOfReach) { try file.replace(by: changed.text, erasesFormer: erasesFormer) }
            return changed
        }
    }

    private func outOfReach(_ error: SystemError) -> CommandFailure {
        CommandFailure.because("The server key cannot be read or written", error)
            .advising(
                "Give its directory to the user that Afterlink runs as, or name another --server-key-file."
            )
    }
}

/// The server keys in their file, the newest first.
///
/// Each is a line of 64 hexadecimal digits, followed by the time of its creation if a rotation created it.
struct ServerKeyList: Equatable {
    struct Entry: Equatable {
        let bytes: [UInt8]
        /// Nil for the first key, and for a key added by hand.
        var madeAt: Timestamp?

        /// Nil unless there are 32 bytes.
        var key: ServerKey? { ServerKey(bytes: bytes) }
        /// The check value that identifies the key.
        var check: KeyedHash? { key?.checkValue }
    }

    /// Newest first; never empty.
    let entries: [Entry]
    /// The keys that other running servers have loaded; nil if the age of a key decides when new clicks are stored under it.
    var holders: KeyHolders?

    /// The maximum number of keys after a rotation: a check without a match looks up its fingerprint under each key.
    static let maximumCount = 4
    /// How long processes only search under a new key, so that all of them have it before one stores clicks under it.
    static let settlingMilliseconds: Int64 = 5000
    /// If a key's time is more than these milliseconds in the future, the clock was set back after its creation.
    private static let leap: Int64 = 60_000

    init(_ entries: [Entry]) { self.entries = entries }

    /// Reads the text of a file; nil for a damaged one.
    init?(_ text: String) {
        var entries: [Entry] = []
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard let first = words.first, let bytes = Hexadecimal.bytes(first),
                bytes.count == ServerKey.byteCount, words.count <= 2
            else { return nil }
            var entry = Entry(bytes: bytes)
            if words.count == 2 {
                guard let moment = Timestamp(iso8601: String(words[1])) else { return nil }
                entry.madeAt = moment
            }
            entries.append(entry)
        }
        guard !entries.isEmpty, entries.count <= 2 * Self.maximumCount else { return nil }
        self.init(entries)
    }

    var text: String {
        entries.map { entry in
            Hexadecimal.text(of: entry.bytes) + (entry.madeAt.map { " \($0.iso8601)" } ?? "") + "\n"
        }.joined()
    }

    /// Returns the index of the key that new clicks are stored under.
    func currentIndex(at now: Timestamp) -> Int {
        let index = entries.firstIndex { entry in
            if let holders { return holders.allow(entry) }
            guard let madeAt = entry.madeAt else { return true }
            let age = now.milliseconds(since: madeAt)
            return age >= Self.settlingMilliseconds || age < -Self.leap
        }
        return index ?? entries.count - 1
    }

    /// Returns the keys as upcoming, current and former ones; nil if a key does not have 32 bytes.
    func keys(at now: Timestamp) -> ServerKeys? {
        let keys = entries.compactMap(\.key)
        guard keys.count == entries.count else { return nil }
        let index = currentIndex(at: now)
        return ServerKeys(keys[index], upcoming: Array(keys[..<index]), former: Array(keys[(index + 1)...]))
    }

    /// All keys, the current one first; none if a key is damaged.
    var all: [ServerKey] { keys(at: WallClock.system.now())?.all ?? [] }

    /// Whether this list contains every key of another list.
    func holds(_ other: ServerKeyList) -> Bool { other.entries.allSatisfy(has) }

    /// Whether the lists have a key in common.
    ///
    /// Two lists of one database have one, unless every key of the older list has been destroyed since.
    func isRelated(to other: ServerKeyList) -> Bool { other.entries.contains(where: has) }

    /// Returns these keys, followed by the keys that only the other list contains.
    func joined(with other: ServerKeyList) -> ServerKeyList {
        ServerKeyList(entries + other.entries.filter { !has($0) })
    }

    private func has(_ key: Entry) -> Bool { entries.contains { $0.bytes == key.bytes } }
}

/// The keys that running servers hold: new clicks are stored under the newest key that all of them hold.
struct KeyHolders: Equatable {
    /// For each other server, the first word of the check value of each of its keys.
    let others: [[UInt64]]
    /// The check value of the key under which this process already stores clicks; it never returns to an older key.
    var current: KeyedHash?

    func allow(_ entry: ServerKeyList.Entry) -> Bool {
        guard let check = entry.check else { return false }
        return check == current || others.allSatisfy { $0.contains(check.index) }
    }
}
