/// The kind of value by which an operator names the data to show or erase; the raw value is the word on the wire.
public enum SubjectKind: String, CaseIterable, Sendable {
    case click = "click_id"
    case fingerprint
    case install = "install_id"
    /// An app's own id of a user, which events may have named.
    case user
    case address
}

/// A value whose clicks and checks in one app are shown or erased, given by the hashes that rows contain instead of the
/// value.
public struct DataSubject: Sendable {
    /// The identifier or the hashes that rows are compared with.
    public enum Key: Equatable, Sendable {
        case click(ClickID)
        /// The hash under each server key.
        case fingerprint([KeyedHash])
        /// The hashes of the live and of the test installation under each server key.
        case install(live: [KeyedHash], test: [KeyedHash])
        /// The hashes of the user in live and in test traffic under each server key.
        case user(live: [KeyedHash], test: [KeyedHash])
        /// The hashes of the address, or of its network, under each day's address key that still exists.
        case address(Set<UInt64>, isNetwork: Bool, since: Timestamp)
    }

    public let app: AppID
    public let key: Key
    /// Whether the records of checks are searched even if no click of the subject is found.
    public let isSearchedInChecks: Bool

    /// The number of past days that are searched; ``AddressHashes`` can distinguish their keys from the keys of today
    /// and tomorrow.
    private static let maximumDays: Int64 = 62

    /// Parses a value, and hashes it under every key.
    ///
    /// - Parameters:
    ///   - kind: the kind of the value.
    ///   - text: the value: the id of a click, 64 hexadecimal digits, an installation id, an app's id of a user, an
    ///     address, or a network.
    ///   - app: the app whose clicks and checks are searched.
    ///   - keys: the server keys.
    ///   - addresses: the address keys that still exist.
    ///   - now: the current time.
    /// - Throws: ``FieldProblem``, named by the kind's raw value, if the text does not have the kind's form.
    public init(
        _ kind: SubjectKind,
        _ text: String,
        of app: AppID,
        keys: [ServerKey],
        addresses: AddressKeys,
        at now: Timestamp
    ) throws(FieldProblem) {
        let key: Key? =
            switch kind {
            case .click: ClickID(text).map { .click($0) }
            case .fingerprint:
                Fingerprint(hex: text).map { fingerprint in .fingerprint(keys.map { $0.keyed(fingerprint) }) }
            case .install:
                InstallID(text).map { id in
                    let hashes = [false, true].map { isTest in
                        keys.map { $0.install(app: app, isTest: isTest, installID: id) }
                    }
                    return .install(live: hashes[0], test: hashes[1])
                }
            case .user where (1...AppEvent.maximumUserLength).contains(text.unicodeScalars.count):
                .user(
                    live: keys.map { $0.user(app: app, isTest: false, id: text) },
                    test: keys.map { $0.user(app: app, isTest: true, id: text) }
                )
            case .user: nil
            case .address: Self.address(text, addresses, at: now)
            }
        guard let key else { throw FieldProblem(kind.rawValue, "\(kind.rawValue) must be \(kind.form).") }
        self.init(key, of: app)
    }

    /// Creates a subject from its key.
    ///
    /// A user is never searched in records of checks, because they contain no hash of a user.
    package init(_ key: Key, of app: AppID, isSearchedInChecks: Bool = true) {
        (self.key, self.app) = (key, app)
        if case .user = key {
            self.isSearchedInChecks = false
        } else {
            self.isSearchedInChecks = isSearchedInChecks
        }
    }

    private static func address(_ text: String, _ keys: AddressKeys, at now: Timestamp) -> Key? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = NetworkAddress(String(first)) else { return nil }
        let isNetwork = parts.count == 2
        if isNetwork, parts[1] != (first.contains(":") ? "48" : "24") { return nil }
        let today = AddressKeys.day(of: now)
        // A clock may have been ahead by a day.
        let days = max(keys.firstDay, today - maximumDays)...max(keys.firstDay, today + 1)
        let hashes = days.compactMap { keys.key(on: $0).addressHashes(of: address) }
        guard !hashes.isEmpty else { return nil }
        return .address(
            Set(hashes.map { isNetwork ? $0.near : $0.exact }),
            isNetwork: isNetwork,
            since: Timestamp(milliseconds: (days.lowerBound - 1) * AddressKeys.period)
        )
    }

    public var kind: SubjectKind {
        switch key {
        case .click: .click
        case .fingerprint: .fingerprint
        case .install: .install
        case .user: .user
        case .address: .address
        }
    }

    /// Returns the installation as an app names it: with only its live hashes, or only its test hashes.
    ///
    /// Any app may send an unknown id. A search of all checks for it would be slow, so checks are searched only if the
    /// installation has clicks.
    public func ofInstall(isTest: Bool) -> DataSubject {
        let hashes = installs(isTest: isTest)
        let key = Key.install(live: isTest ? [] : hashes, test: isTest ? hashes : [])
        return DataSubject(key, of: app, isSearchedInChecks: false)
    }

    /// Returns the installation's hashes of live or test traffic; empty for another kind of value.
    public func installs(isTest: Bool) -> [KeyedHash] {
        guard case .install(let live, let test) = key else { return [] }
        return isTest ? test : live
    }

    /// Returns the user's hashes of live or test traffic; empty for another kind of value.
    public func users(isTest: Bool) -> [KeyedHash] {
        guard case .user(let live, let test) = key else { return [] }
        return isTest ? test : live
    }

    /// Returns whether the subject is an address, or a network, with these hashes.
    public func has(_ address: AddressHashes?) -> Bool {
        guard case .address(let words, let isNetwork, _) = key, let address else { return false }
        return words.contains(isNetwork ? address.near : address.exact)
    }

    /// Returns whether a check's record itself contains the subject: the click's id, or one of the hashes.
    ///
    /// The other values of the record's click do not matter. `isTest` is whether the record is one of test traffic.
    public func has(_ facts: CheckFacts, isTest: Bool) -> Bool {
        switch key {
        case .click(let id): facts.click?.high == id.high
        case .fingerprint(let keys):
            keys.contains { $0 == facts.fingerprint || facts.otherFingerprints.contains($0.index) }
        case .install: installs(isTest: isTest).contains { $0.index == facts.caller }
        case .user: false
        case .address: has(facts.address)
        }
    }
}

extension SubjectKind {
    /// The form of the value, as the end of a sentence.
    fileprivate var form: String {
        switch self {
        case .click: "the id of a click, as in clk_01jz8w6t7n3k5m9q2r4v6x8y0z"
        case .fingerprint: "64 hexadecimal digits"
        case .user: "the id that the app's events name, of 1 to \(AppEvent.maximumUserLength) characters"
        case .install: "1 to 64 letters, digits, - and _"
        case .address:
            "a public address, as in 203.0.113.7, or the network around it, as in 203.0.113.0/24 or 2001:db8:1::/48"
        }
    }
}
