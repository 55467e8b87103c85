/// Reconstructs a stored click's fingerprints (hashes of device values) from its signals (the values).
///
/// A backtest uses it for clicks that can no longer match, because the index may have lost their system releases and
/// the hashes of their signals.
public struct FingerprintReconstruction: Sendable {
    private let keys: [ServerKey]
    private let data: DeviceData
    private let localization: AppLocalization
    /// A cache of results by ``ClickEvidence/canonicalText``, because many clicks have the same values.
    private var known: [String: Reconstruction] = [:]

    private struct Reconstruction {
        var fingerprints: [UInt64: RecordedFingerprint] = [:]
        var release: OSRelease?
        var signals = SignalHashes.none
    }

    /// If the cache has this many texts, it is emptied before the next one is added.
    private static let maximumKnown = 20_000

    /// - Parameters:
    ///   - keys: the server keys that may have hashed stored fingerprints.
    ///   - data: the tables of time zones, languages, iOS releases and screens.
    ///   - localization: the languages that the app comes in.
    public init(keys: [ServerKey], data: DeviceData, localization: AppLocalization) {
        self.keys = keys
        self.data = data
        self.localization = localization
    }

    /// - Parameters:
    ///   - stored: every hash that finds the click: a ready-made fingerprint that the client sent, if any;
    ///     then the fingerprints of its signals; then its advertising ids.
    ///   - text: the click's signals; nil if it had none.
    ///   - osVersion: the click's system version, which is used if `text` is nil.
    ///   - platform: the platform of `osVersion`.
    /// - Returns: three values:
    ///   1. The click's fingerprints. If none can be computed, this is the first hash of `stored` alone.
    ///   2. The number of fingerprints in `stored` that come from the click's signals and cannot be computed. It is 0
    ///      if `text` yields no fingerprint, and 1 if `text` yields only fingerprints that are not in `stored`.
    ///   3. The hashes of the values that the click reported.
    public mutating func fingerprints(
        _ stored: [KeyedHash],
        text: String?,
        osVersion: OSVersion?,
        platform: Platform
    ) -> (all: [RecordedFingerprint], missing: Int, signals: SignalHashes) {
        let result =
            text.map { reconstruction($0) }
            ?? Reconstruction(release: osVersion.map { OSRelease($0, on: platform) })
        func computed(_ key: KeyedHash) -> RecordedFingerprint? { result.fingerprints[key.index] }
        func unformed(_ key: KeyedHash) -> RecordedFingerprint {
            RecordedFingerprint(key: key.index, form: nil, release: result.release)
        }
        guard let first = stored.firstIndex(where: { computed($0) != nil }),
            let last = stored.lastIndex(where: { computed($0) != nil })
        else {
            let isMissing = !result.fingerprints.isEmpty && !stored.isEmpty
            return (stored.prefix(1).map(unformed), isMissing ? 1 : 0, result.signals)
        }
        // Advertising ids follow the computed fingerprints; a ready-made fingerprint precedes them.
        let all = stored[...last].map { computed($0) ?? unformed($0) }
        let missing = stored[first...last].count { computed($0) == nil } + max(0, first - 1)
        return (all, missing, result.signals)
    }

    private mutating func reconstruction(_ text: String) -> Reconstruction {
        if let result = known[text] { return result }
        var result = Reconstruction()
        if let signals = CanonicalSignals(line: text) {
            let release = OSRelease(signals.system, on: signals.platform)
            result.release = release
            result.signals = SignalHashes(signals.evidence(data: data))
            for formed in signals.fingerprints(localization: localization, data: data) {
                for key in keys.map({ $0.keyed(formed.fingerprint).index })
                where result.fingerprints[key] == nil {
                    result.fingerprints[key] = RecordedFingerprint(
                        key: key,
                        form: formed.form,
                        weight: formed.weight,
                        release: formed.osVersion.map { OSRelease($0, on: signals.platform) } ?? release
                    )
                }
            }
        }
        if known.count >= Self.maximumKnown { known.removeAll(keepingCapacity: true) }
        known[text] = result
        return result
    }
}
