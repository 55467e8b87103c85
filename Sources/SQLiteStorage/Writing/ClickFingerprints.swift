internal import Attribution
internal import SQLite
internal import Storage

/// What leads from a click to its rows among those that checks look into.
struct ClickFingerprints {
    let click: Int64
    let scope: Scope
    let clickedAt: Timestamp
    let expiresAt: Timestamp
    let visit: KeyedHash
    /// Everything that the click can be found by, advertising ids too; the one it was known by first comes first.
    let fingerprints: [KeyedHash]
    let nearAddress: Int64?

    /// Reads the columns of ``columns``.
    init(_ row: Statement) {
        click = row.integer(0)
        scope = Scope(number: row.integer(1))
        clickedAt = Timestamp(milliseconds: row.integer(2))
        expiresAt = Timestamp(milliseconds: row.integer(3))
        visit = KeyedHash(
            index: UInt64(bitPattern: row.integer(4)),
            rest: UInt64(bitPattern: row.integer(5))
        )
        fingerprints = Self.unpacked(row.bytes(6))
        nearAddress = row.optionalInteger(7)
    }

    static func find(_ click: Int64, on connection: SQLiteConnection) throws(SQLiteError)
        -> ClickFingerprints?
    {
        try connection.statement(select).first(click) { ClickFingerprints($0) }
    }

    /// Both words of each, the lowest byte first.
    static func packed(_ keys: some Collection<KeyedHash>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(keys.count * 16)
        for word in keys.lazy.flatMap({ [$0.index, $0.rest] }) { append(word, 64, to: &bytes) }
        return bytes
    }

    /// The first four bytes of each: the marks of a row of addresses.
    static func marks(_ keys: some Collection<KeyedHash>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(keys.count * 4)
        for key in keys { append(key.index, 32, to: &bytes) }
        return bytes
    }

    private static func append(_ word: UInt64, _ bits: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: bits, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    static func unpacked(_ bytes: [UInt8]) -> [KeyedHash] {
        func word(at start: Int) -> UInt64 {
            bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        return stride(from: 0, to: bytes.count - 15, by: 16).map { start in
            KeyedHash(index: word(at: start), rest: word(at: start + 8))
        }
    }

    static let select: StaticString = """
        SELECT id, scope, clicked_at, expires_at, visit, visit_rest, fingerprints, near_address
        FROM clicks WHERE id = ?1
        """
}

/// One row that a click is found by.
struct IndexEntry {
    let key: KeyedHash
    /// Platform and form as ``PlatformForm/code``; for an advertising id, the platform and the first letter of its kind.
    let lane: UInt64
    let weight: Double
    let release: OSRelease?
    /// What the click tells beside this fingerprint; nil for nothing.
    let signals: UInt64?
}

extension NewClick {
    /// Everything that the click can be found by, each once: two forms may make one fingerprint.
    var indexEntries: [IndexEntry] {
        var seen: Set<UInt64> = []
        var entries: [IndexEntry] = []
        entries.reserveCapacity(fingerprints.count + evidence.advertisingIDs.count)
        for entry in fingerprints where fingerprints.count == 1 || seen.insert(entry.key.index).inserted {
            let beside = evidence.signals.excludingComponents(of: entry.form)
            entries.append(
                IndexEntry(
                    key: entry.key,
                    lane: PlatformForm(platform: facts.platform, form: entry.form).code,
                    weight: entry.weight,
                    release: entry.release,
                    signals: beside.isEmpty ? nil : beside.word
                )
            )
        }
        let platform = PlatformForm(platform: facts.platform, form: nil).code
        for id in evidence.advertisingIDs {
            let lane = platform | UInt64(id.kind.rawValue.utf8.first ?? 0)
            entries.append(IndexEntry(key: id.key, lane: lane, weight: 1, release: nil, signals: nil))
        }
        return entries
    }
}
