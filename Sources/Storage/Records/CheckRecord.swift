public import Attribution

/// A row of `checks`: how a check (a first launch's request) ended, and the facts that decided it.
public struct CheckRecord: Record, Equatable, Sendable {
    public let id: CheckID
    public let scope: Scope
    /// The facts; the row contains only the first half of the click's identifier.
    public var facts: CheckFacts

    public init(id: CheckID, scope: Scope, facts: CheckFacts) {
        (self.id, self.scope, self.facts) = (id, scope, facts)
    }

    public static let columns: Columns = [
        "id", "id_low", "scope", "checked_at", "outcome", "reason", "method", "confidence",
        "is_campaign_only",
        "minimum_confidence", "organic_share", "candidates", "click", "platform_form", "agreement", "shares",
        "fingerprint", "fingerprint_rest", "exact_address", "near_address", "names_click", "has_install_id",
        "platform", "os_release", "sdk_version", "request_id", "caller", "probability", "weight",
        "other_fingerprints", "first_installed_at", "signal_marks", "play", "play_finding",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("id", id.high)
        row.put("id_low", id.low)
        row.put("scope", scope.number)
        row.put("checked_at", facts.at)
        row.put("outcome", facts.outcome)
        row.put("reason", facts.reason)
        row.put("method", facts.method)
        row.put("confidence", facts.confidence)
        row.put("is_campaign_only", facts.isCampaignOnly)
        row.put("minimum_confidence", facts.minimumConfidence)
        row.put("organic_share", facts.organicShare)
        row.put("candidates", facts.candidates)
        row.put("click", facts.click?.high)
        row.put("platform_form", (facts.platformForm?.code).map { Int64(bitPattern: $0) })
        row.put("agreement", (facts.agreement?.rawValue).map { Int64($0) })
        row.put("shares", Self.packed(facts.shares))
        row.put("fingerprint", "fingerprint_rest", facts.fingerprint)
        row.put("exact_address", "near_address", facts.address)
        row.put("names_click", facts.namesClick)
        row.put("has_install_id", facts.hasInstallID)
        row.put("platform", facts.platform)
        row.put("os_release", facts.release.map { Int64(bitPattern: Self.code(of: $0)) })
        row.put("sdk_version", facts.sdkVersion)
        row.put("request_id", facts.requestID)
        row.put("caller", facts.caller)
        // Nil if the confidence implies it.
        row.put("probability", facts.probability == Self.probability(facts) ? nil : facts.probability)
        row.put("weight", facts.weight > 1 ? facts.weight : nil)
        let others = facts.otherFingerprints
        row.put("other_fingerprints", others.isEmpty ? nil : [UInt8](packing: others))
        row.put("first_installed_at", facts.firstInstalledAt)
        row.put("signal_marks", facts.signals.isEmpty ? nil : Int64(bitPattern: facts.signals.word))
        row.put("play", facts.play?.text)
        row.put("play_finding", facts.playFinding)
    }

    public init?(_ row: inout some RowReader) {
        id = CheckID(high: row.get("id"), low: row.get("id_low"))
        scope = Scope(number: row.get("scope"))
        let checkedAt: Timestamp = row.get("checked_at")
        guard let outcome: CheckOutcome = row.get("outcome") else { return nil }
        facts = CheckFacts(at: checkedAt, outcome: outcome)
        facts.reason = row.get("reason")
        facts.method = row.get("method")
        facts.confidence = row.get("confidence")
        facts.isCampaignOnly = row.get("is_campaign_only")
        facts.minimumConfidence = row.get("minimum_confidence")
        facts.organicShare = row.get("organic_share")
        facts.candidates = row.get("candidates")
        facts.click = (row.get("click") as UInt64?).map { ClickID(high: $0, low: 0) }
        facts.platformForm = (row.get("platform_form") as UInt64?).flatMap { PlatformForm(code: $0) }
        facts.agreement = (row.get("agreement") as Int?).flatMap {
            AddressAgreement(rawValue: UInt8(clamping: $0))
        }
        facts.shares = Self.unpackedShares(row.get("shares"))
        facts.fingerprint = row.get("fingerprint", "fingerprint_rest")
        facts.address = row.get("exact_address", "near_address")
        facts.namesClick = row.get("names_click")
        facts.hasInstallID = row.get("has_install_id")
        guard let platform: Platform = row.get("platform") else { return nil }
        facts.platform = platform
        facts.release = (row.get("os_release") as UInt64?).flatMap { Self.release($0) }
        facts.sdkVersion = row.get("sdk_version")
        facts.requestID = row.get("request_id")
        facts.caller = row.get("caller")
        facts.probability = row.get("probability") ?? Self.probability(facts)
        facts.weight = max(1, row.get("weight"))
        facts.otherFingerprints = (row.get("other_fingerprints") as [UInt8]).unpackedWords
        facts.firstInstalledAt = row.get("first_installed_at")
        facts.signals = SignalHashes(word: row.get("signal_marks"))
        facts.play = (row.get("play") as String?).map { PlayInstall(text: $0) }
        facts.playFinding = row.get("play_finding")
    }

    /// Returns the release's code, with ``OSRelease/isAtLeast`` in its lowest bit, which no code uses.
    private static func code(of release: OSRelease) -> UInt64 { release.code | (release.isAtLeast ? 1 : 0) }

    private static func release(_ code: UInt64) -> OSRelease? {
        OSRelease(code: code).map {
            OSRelease(platform: $0.platform, major: $0.major, minor: $0.minor, isAtLeast: code & 1 == 1)
        }
    }

    /// Returns the probability of a row that stores none: the confidence, if it was computed from weighed clicks and is
    /// not capped.
    ///
    /// Nil for any other row, for example of a certain match.
    private static func probability(_ facts: CheckFacts) -> Double? {
        guard facts.organicShare != nil, facts.method?.confidence == nil, let confidence = facts.confidence,
            confidence < Verdict.highestConfidence
        else { return nil }
        return confidence
    }

    /// Returns, for each click, 8 bytes of its number and 2 bytes of its share in 65535ths; nil for no shares.
    private static func packed(_ shares: [CheckFacts.Share]) -> [UInt8]? {
        guard !shares.isEmpty else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(shares.count * shareByteCount)
        for share in shares {
            bytes.pack(share.click.high)
            bytes.pack(UInt16(min(max(share.probability, 0), 1) * 65535 + 0.5))
        }
        return bytes
    }

    /// Returns the shares in a column of bytes.
    public static func unpackedShares(_ bytes: [UInt8]) -> [CheckFacts.Share] {
        stride(from: 0, through: bytes.count - shareByteCount, by: shareByteCount).map { start in
            CheckFacts.Share(
                click: ClickID(high: bytes.unpacked(at: start), low: 0),
                probability: Double(bytes.unpacked(at: start + 8, as: UInt16.self)) / 65535
            )
        }
    }

    private static let shareByteCount = 10
}
