public import Attribution
internal import SQLite
internal import Storage

// All of these wait for the disk: never called on a loop.

extension SQLiteStore {
    /// Remembers by their ``ServerKey/checkValue`` which server keys the store is used with from now on, the present one first.
    ///
    /// What was there before is not changed where it was stored under another key than these.
    public func confirm(serverKeys checks: [KeyedHash], at now: Timestamp) throws(StoreError)
        -> ServerKeyRecognition
    {
        guard
            case .serverKeys(let recognition) = try shared.queue.perform(.keys(.confirm(checks, at: now)))
        else { throw .mismatch }
        return recognition
    }

    /// Which keys may be destroyed, as of a moment of the store's own clock.
    public func keyNeeds() throws(StoreError) -> RequiredKeys {
        let now = shared.configuration.clock.now()
        // Not by the writer, whose commits say that the disk takes writes.
        let (needs, hasPastDays) = try opening.translated { () throws(SQLiteError) in
            let connection = try opening.openReader()
            let hasPastDays = try connection.statement(KeySQL.hasPastDays).first(now.milliseconds) {
                $0.integer(0)
            }
            return (try SQLiteReader(connection: connection).requiredKeys(at: now), hasPastDays == 1)
        }
        guard hasPastDays, isClockSettled else { return needs }
        try shared.queue.perform(.keys(.forgetAddressDays(before: now)))
        return needs
    }

    /// Forgets a server key under which nothing is stored any more, by the first word of its check.
    public func forget(serverKey check: UInt64) throws(StoreError) {
        try shared.queue.perform(.keys(.forget(serverKey: check)))
    }
}
