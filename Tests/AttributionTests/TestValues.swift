import Attribution

/// Constant values that many tests use.
enum TestValues {
    static let noon = Timestamp(milliseconds: 1_700_000_000_000)
    static let random = RandomSource { count in (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) } }
    static let app = AppID(high: 1, low: 2)
    static let otherApp = AppID(high: 1, low: 3)
    static let fingerprint = Fingerprint(of: "iPhone|17.2|390x844|Europe/Istanbul|tr")

    /// The device of ``fingerprint``, as its app reports it.
    static let iPhone = NativeSignals(
        platform: .ios,
        model: "iPhone",
        osVersion: "17.2",
        screenWidth: 390,
        screenHeight: 844,
        scale: 3,
        timezone: "Europe/Istanbul",
        language: "tr"
    )

    /// The canonical signals of a page on that device.
    static let signals = CanonicalSignals(
        platform: .ios,
        model: "iPhone",
        system: .exact(OSVersion(major: 17, minor: 2)),
        screen: ScreenSize(390, 844),
        scale: 3,
        timezone: "Europe/Istanbul",
        languages: ["tr"]
    )

    /// Returns signals that a page on an iPhone with this screen reports, and that are not in a fingerprint
    /// of form D.
    static func screen(_ width: Double, _ height: Double, scale: Double? = 3) -> SignalHashes {
        let canonical = CanonicalSignals(platform: .ios, screen: ScreenSize(width, height), scale: scale)
        return SignalHashes(canonical.evidence())
    }

    static func click(_ id: UInt64, at clickedAt: Timestamp = noon) -> Click {
        Click(
            id: ClickID(high: id, low: id),
            facts: Click.Facts(
                app: app,
                destination: DeepLinkURL(stored: "myapp://promo"),
                journeyID: JourneyID(at: noon, random: random),
                clickedAt: clickedAt,
                recordedAt: clickedAt,
                window: .standard
            )
        )
    }
}
