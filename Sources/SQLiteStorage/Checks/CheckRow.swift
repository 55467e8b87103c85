internal import Attribution
internal import SQLite

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
        facts.click = row.isNull(12) ? nil : ClickID(high: word(12), low: word(26))
        facts.lane = row.isNull(13) ? nil : Lane(code: word(13))
        facts.agreement = row.optionalInteger(14).flatMap { AddressAgreement(rawValue: UInt8(clamping: $0)) }
        facts.shares = Self.unpacked(row.bytes(15))
        facts.address = row.isNull(18) ? nil : AddressHashes(exact: word(18), near: word(19))
        facts.release = row.isNull(23) ? nil : OSRelease(code: word(23))
        facts.sdkVersion = row.optionalText(24)
        facts.requestID = row.optionalText(25)
        self.facts = facts
        campaign = row.optionalText(27).flatMap { CampaignKey($0) }
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

    private static func unpacked(_ bytes: [UInt8]) -> [CheckFacts.Share] {
        stride(from: 0, to: bytes.count - bytes.count % shareBytes, by: shareBytes).map { start in
            let click = (0..<8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64(bytes[start + $1]) }
            let part = UInt16(bytes[start + 8]) | UInt16(bytes[start + 9]) << 8
            return CheckFacts.Share(click: ClickID(high: click, low: 0), probability: Double(part) / 65535)
        }
    }

    private static let shareBytes = 10
}
