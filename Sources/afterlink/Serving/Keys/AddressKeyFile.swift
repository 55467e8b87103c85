internal import Attribution
internal import Crypto
internal import Glibc

/// The file of the address keys, which hash clients' addresses, one key a day.
///
/// It is in the database's folder, and only its owner can read it. Each line is an ``AddressKeys/Seed``: a date and 64
/// hexadecimal digits. The service changes this file every day; the file of the server keys changes only by a command
/// or when a key is destroyed.
struct AddressKeyFile {
    let path: String
    /// Whether a group may read the file, as in ``SecretFile/isShared``.
    var isShared = false

    private var file: SecretFile { SecretFile(path: path, isShared: isShared) }
    /// A stamp that changes with the file; empty if there is no file.
    var stamp: [Int] { file.stamp }

    /// Returns the keys, computed in advance until the day after `now`; creates keys if there is no file.
    ///
    /// After keys are created, no launch matches an existing click by its address.
    func open(at now: Timestamp) throws -> AddressKeys {
        if !TextFile.exists(path) {
            let seed = Self.newSeed(from: AddressKeys.day(of: now))
            try file.make(Self.text([seed].compactMap(\.self)), forOwnerOfFolder: true, outOfReach)
        }
        return try keys(at: now)
    }

    /// Returns the keys without creating a file; if there is none, keys that no address was hashed with.
    func read(at now: Timestamp) throws -> AddressKeys {
        if !TextFile.exists(path), let seed = Self.newSeed(from: AddressKeys.day(of: now)),
            let keys = AddressKeys([seed], readyUntil: now)
        {
            return keys
        }
        return try keys(at: now)
    }

    private func keys(at now: Timestamp) throws -> AddressKeys {
        let text = try file.secret("address keys", of: "their", outOfReach)
        guard let keys = AddressKeys(Self.seeds(text), readyUntil: now) else {
            throw CommandFailure.configuration(
                "The address keys \(path) are damaged: a line is a date and 64 hexadecimal digits."
            )
            .advising(
                "Restore the file from the backup. Without the file, current clicks lose their addresses."
            )
        }
        return keys
    }

    /// Changes the file in one step, under a lock.
    ///
    /// - Parameters:
    ///   - now: the current time; the keys are computed in advance until the next day.
    ///   - erasesFormer: whether the previous content is destroyed.
    ///   - body: returns the keys that replace the current ones.
    /// - Returns: the keys that the file contains now.
    /// - Throws: if the file cannot be read or changed.
    @discardableResult
    func change(at now: Timestamp, erasesFormer: Bool, _ body: (AddressKeys) -> AddressKeys)
        throws -> AddressKeys
    {
        try file.withLock {
            let keys = try open(at: now)
            let changed = body(keys)
            guard changed.seeds != keys.seeds else { return changed }
            try attempt(orElse: outOfReach) {
                try file.replace(by: Self.text(changed.seeds), erasesFormer: erasesFormer)
            }
            return changed
        }
    }

    /// Returns random bytes for the keys from a day on.
    static func newSeed(from day: Int64) -> AddressKeys.Seed? {
        AddressKeys.Seed(day: day, bytes: SystemRandom.bytes(ServerKey.byteCount))
    }

    private func outOfReach(_ error: SystemError) -> CommandFailure {
        CommandFailure.because("The address keys cannot be read or written", error)
            .advising("Give the database's directory to the user that Afterlink runs as.")
    }

    static func text(_ seeds: [AddressKeys.Seed]) -> String {
        seeds.map { "\(date(of: $0.day)) \(Hexadecimal.text(of: $0.bytes))\n" }.joined()
    }

    /// Returns the seeds of the file's lines; none for a damaged text.
    static func seeds(_ text: String) -> [AddressKeys.Seed] {
        var seeds: [AddressKeys.Seed] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(separator: " ")
            guard words.count == 2, let midnight = Timestamp(iso8601: "\(words[0])T00:00:00.000Z"),
                let bytes = Hexadecimal.bytes(words[1]),
                let seed = AddressKeys.Seed(day: AddressKeys.day(of: midnight), bytes: bytes)
            else { return [] }
            seeds.append(seed)
        }
        return seeds
    }

    /// Returns the date of a day's number, as in `2026-01-31`.
    static func date(of day: Int64) -> String {
        String(Timestamp(milliseconds: day * AddressKeys.period).iso8601.prefix { $0 != "T" })
    }
}
