internal import Attribution
internal import SQLite
internal import Storage

/// Checks as they stand in their table.
struct CheckRow {
    let id: CheckID
    let scope: Scope
    let facts: CheckFacts
    let campaign: CampaignKey?

    /// Reads the columns of the table, and then the second half of the click's identifier and its campaign.
    init(_ row: Statement) throws(SQLiteError) {
        guard let outcome = CheckOutcome(rawValue: row.text(4)),
            let platform = Platform(rawValue: row.text(22))
        else { throw .damaged("reading a check") }
        func word(_ column: Int32) -> UInt64 { UInt64(bitPattern: row.integer(column)) }
        id = CheckID(high: word(0), low: word(1))
        scope = Scope(number: row.integer(2))
        var facts = CheckFacts(
            at: Timestamp(milliseconds: row.integer(3)),
            outcome: outcome,
            reason: row.optionalText(5).flatMap(NoMatchReason.init(rawValue:)),
            minimumConfidence: row.real(9),
            fingerprint: row.isNull(16) ? nil : KeyedHash(index: word(16), rest: word(17)),
            namesClick: row.integer(20) != 0,
            hasInstallID: row.integer(21) != 0,
            platform: platform
        )
        facts.method = row.optionalText(6).flatMap(AttributionMethod.init(rawValue:))
        facts.confidence = row.optionalReal(7)
        facts.isCampaignOnly = row.integer(8) != 0
        facts.organicShare = row.optionalReal(10)
        facts.candidates = Int(clamping: row.integer(11))
        facts.click = row.isNull(12) ? nil : ClickID(high: word(12), low: word(32))
        facts.platformForm = row.isNull(13) ? nil : PlatformForm(code: word(13))
        facts.agreement = row.optionalInteger(14).flatMap { AddressAgreement(rawValue: UInt8(clamping: $0)) }
        facts.shares = Self.unpacked(row.bytes(15))
        facts.address = row.isNull(18) ? nil : AddressHashes(exact: word(18), near: word(19))
        facts.release = row.isNull(23) ? nil : Self.release(word(23))
        facts.sdkVersion = row.optionalText(24)
        facts.requestID = row.optionalText(25)
        facts.caller = row.isNull(26) ? nil : word(26)
        facts.probability = row.optionalReal(27) ?? Self.probability(facts)
        facts.weight = max(1, Int(clamping: row.optionalInteger(28) ?? 1))
        facts.otherFingerprints = Self.words(row.bytes(29))
        facts.firstInstalledAt = row.optionalInteger(30).map(Timestamp.init(milliseconds:))
        facts.signals = SignalHashes(word: word(31))
        self.facts = facts
        campaign = row.optionalText(33).flatMap { CampaignKey($0) }
    }

    /// The lowest bit, which no code has, stands for ``OSRelease/isAtLeast``.
    static func code(of release: OSRelease) -> UInt64 { release.code | (release.isAtLeast ? 1 : 0) }

    private static func release(_ code: UInt64) -> OSRelease? {
        OSRelease(code: code).map {
            OSRelease(platform: $0.platform, major: $0.major, minor: $0.minor, isAtLeast: code & 1 == 1)
        }
    }

    /// That of a record which holds none: the confidence, unless that is limited or of a surer way.
    private static func probability(_ facts: CheckFacts) -> Double? {
        guard facts.organicShare != nil, facts.method?.confidence == nil, let confidence = facts.confidence,
            confidence < Verdict.highestConfidence
        else { return nil }
        return confidence
    }

    /// What is to be stored of a probability: nothing where the record tells it without.
    static func stored(_ facts: CheckFacts) -> Double? {
        facts.probability == probability(facts) ? nil : facts.probability
    }

    /// 8 bytes of each, the lowest first; nil for none.
    static func packed(_ words: [UInt64]) -> [UInt8]? {
        guard !words.isEmpty else { return nil }
        return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    private static func words(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { word(bytes, at: $0) }
    }

    private static func word(_ bytes: [UInt8], at start: Int) -> UInt64 {
        (0..<8).reversed().reduce(0) { $0 << 8 | UInt64(bytes[start + $1]) }
    }

    static func packed(_ shares: [CheckFacts.Share]) -> [UInt8]? {
        guard !shares.isEmpty else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(shares.count * shareBytes)
        for share in shares {
            var (click, part) = (share.click.high, UInt16(min(max(share.probability, 0), 1) * 65535 + 0.5))
            for _ in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: click))
                click >>= 8
            }
            bytes.append(UInt8(truncatingIfNeeded: part))
            part >>= 8
            bytes.append(UInt8(truncatingIfNeeded: part))
        }
        return bytes
    }

    static func unpacked(_ bytes: [UInt8]) -> [CheckFacts.Share] {
        stride(from: 0, to: bytes.count - bytes.count % shareBytes, by: shareBytes).map { start in
            let click = word(bytes, at: start)
            let part = UInt16(bytes[start + 8]) | UInt16(bytes[start + 9]) << 8
            return CheckFacts.Share(click: ClickID(high: click, low: 0), probability: Double(part) / 65535)
        }
    }

    private static let shareBytes = 10
}
