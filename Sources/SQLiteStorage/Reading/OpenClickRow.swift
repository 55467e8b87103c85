internal import Attribution
internal import SQLite
internal import Storage

/// A click that can be matched, as it stands in the index.
struct OpenClickRow {
    let click: Int64
    let clickedAt: Int64
    let lane: PlatformForm
    let weight: Double
    let address: AddressHashes?
    let visitor: UInt64
    let destination: CreditedDestination
    let release: OSRelease?
    let signals: SignalHashes

    /// Reads columns `click, since, expires_at, closed_as, platform_form, weight, exact_address, near_address, visitor,
    /// destination, campaign, os_release, signal_marks`.
    init(_ row: Statement) {
        func word(_ column: Int32) -> UInt64 { UInt64(bitPattern: row.integer(column)) }
        click = row.integer(0)
        clickedAt = row.integer(1)
        lane = Self.lane(row)
        weight = row.real(5)
        address = row.isNull(6) ? nil : AddressHashes(exact: word(6), near: word(7))
        visitor = word(8)
        destination = CreditedDestination(url: word(9), campaign: word(10))
        release = row.isNull(11) ? nil : OSRelease(code: word(11))
        // NULL is 0: nothing is known.
        signals = SignalHashes(word: word(12))
    }

    /// Those of advertising ids have the platform alone.
    static func lane(_ row: Statement) -> PlatformForm {
        let code = UInt64(bitPattern: row.integer(4))
        return PlatformForm(code: code) ?? PlatformForm(platform: .unknown, form: nil)
    }

    var position: RowPosition { RowPosition(clickedAt: clickedAt, click: click) }

    func candidate(_ agreement: AddressAgreement, claimedAt: Timestamp? = nil) -> Candidate {
        Candidate(
            // The second half of an identifier is not needed to find a click by.
            click: ClickID(high: UInt64(bitPattern: click), low: 0),
            clickedAt: Timestamp(milliseconds: clickedAt),
            destination: destination,
            platform: lane.platform,
            form: lane.form,
            weight: weight,
            address: agreement,
            visitor: visitor,
            hasAddress: address != nil,
            release: release,
            signals: signals,
            claimedAt: claimedAt
        )
    }
}
