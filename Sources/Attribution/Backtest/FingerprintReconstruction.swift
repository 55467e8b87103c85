/// Reconstructs the fingerprints of a stored click from its signals: their forms and weights are not stored
/// once the click can no longer match.
public struct FingerprintReconstruction: Sendable {
    private let keys: [ServerKey]
    private let data: DeviceData
    private let localization: AppLocalization
    /// By ``ClickEvidence/canonicalText``: the clicks of an app come from few kinds of devices.
    private var known: [String: Made] = [:]

    private struct Made {
        var fingerprints: [UInt64: RecordedFingerprint] = [:]
        var release: OSRelease?
        var signals = SignalHashes.none
    }

    /// The number of texts at which the cache is emptied, because it is soon filled again.
    private static let mostKnown = 20_000

    /// - Parameters:
    ///   - keys: the server keys that may have hashed stored fingerprints.
    ///   - data: names, codes, releases and panels.
    ///   - localization: the languages that the app comes in.
    public init(keys: [ServerKey], data: DeviceData, localization: AppLocalization) {
        self.keys = keys
        self.data = data
        self.localization = localization
    }

    /// - Parameters:
    ///   - stored: every hash that finds the click, in this order: a ready-made fingerprint, those of its
    ///     signals, advertising ids.
    ///   - text: its signals; nil if it had none.
    ///   - osVersion: its system, if its signals do not contain it.
    ///   - platform: the platform under which its fingerprints are counted.
    /// - Returns: its fingerprints, the number of computed fingerprints that are missing from `stored`, and
    ///   its remaining signals.
    public mutating func fingerprints(
        _ stored: [KeyedHash],
        text: String?,
        osVersion: OSVersion?,
        platform: Platform
    ) -> (all: [RecordedFingerprint], missing: Int, signals: SignalHashes) {
        let made = text.map { self.made($0) } ?? Made(release: osVersion.map { OSRelease($0, on: platform) })
        func remade(_ key: KeyedHash) -> RecordedFingerprint? { made.fingerprints[key.index] }
        func unformed(_ key: KeyedHash) -> RecordedFingerprint {
            RecordedFingerprint(key: key.index, form: nil, release: made.release)
        }
        guard let first = stored.firstIndex(where: { remade($0) != nil }),
            let last = stored.lastIndex(where: { remade($0) != nil })
        else {
            let isMissing = !made.fingerprints.isEmpty && !stored.isEmpty
            return (stored.prefix(1).map(unformed), isMissing ? 1 : 0, made.signals)
        }
        // Advertising ids follow the computed fingerprints; a ready-made fingerprint precedes them.
        let all = stored[...last].map { remade($0) ?? unformed($0) }
        let missing = stored[first...last].count { remade($0) == nil } + max(0, first - 1)
        return (all, missing, made.signals)
    }

    private mutating func made(_ text: String) -> Made {
        if let made = known[text] { return made }
        var made = Made()
        if let signals = CanonicalSignals(line: text) {
            let release = OSRelease(signals.system, on: signals.platform)
            made.release = release
            made.signals = SignalHashes(signals.evidence(data: data))
            for formed in signals.fingerprints(localization: localization, data: data) {
                for key in keys.map({ $0.keyed(formed.fingerprint).index })
                where made.fingerprints[key] == nil {
                    made.fingerprints[key] = RecordedFingerprint(
                        key: key,
                        form: formed.form,
                        weight: formed.weight,
                        release: formed.osVersion.map { OSRelease($0, on: signals.platform) } ?? release
                    )
                }
            }
        }
        if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
        known[text] = made
        return made
    }
}
