/// Everything that a first launch brings to be recognised by, read and not yet verified.
public struct LaunchEvidence: Equatable, Sendable {
    /// What names a click, the most direct way first, none of them twice.
    public private(set) var references: [ClickReference] = []
    public var idfa: AdvertisingID?
    public var gaid: AdvertisingID?
    /// What the client made of its signals itself.
    public var fingerprint: Fingerprint?
    public var signals: NativeSignals?

    public init(
        idfa: AdvertisingID? = nil,
        gaid: AdvertisingID? = nil,
        fingerprint: Fingerprint? = nil,
        signals: NativeSignals? = nil
    ) {
        self.idfa = idfa
        self.gaid = gaid
        self.fingerprint = fingerprint
        self.signals = signals
    }

    /// Adds what names a click, by the four ways in which it travels.
    ///
    /// - Parameters:
    ///   - token: what the client itself calls the token.
    ///   - clickID: what the client itself calls the click's identifier.
    ///   - referrer: the text that the store kept.
    ///   - pasteboard: the text that the app found on the pasteboard.
    public mutating func add(
        token: String? = nil,
        clickID: String? = nil,
        referrer: String? = nil,
        pasteboard: String? = nil
    ) {
        let found = [
            token.flatMap { ClickReference($0) },
            clickID.flatMap { ClickReference($0) },
            referrer.flatMap { InstallReferrer($0).reference },
            pasteboard.flatMap { PasteboardText($0).reference },
        ]
        for case let reference? in found where !references.contains(reference) {
            references.append(reference)
        }
    }

    /// Adds an advertising id, unless one of its kind is there.
    public mutating func add(_ id: AdvertisingID) {
        switch id.kind {
        case .idfa: idfa = idfa ?? id
        case .gaid: gaid = gaid ?? id
        }
    }

    /// Whether there is nothing by which a click could be found.
    public var isEmpty: Bool { self == LaunchEvidence() }
}

/// A first launch of a newer client, which tells what it knows instead of a hash of it.
public struct ResolveRequest: Equatable, Sendable {
    public var evidence: LaunchEvidence
    /// The languages that the app has, where it tells.
    public var localizations: [String]?
    public var installID: InstallID?
    /// When the system says that the app was installed first: a reinstall is not an install.
    public var firstInstalledAt: Timestamp?
    public var platform: Platform?

    public init(
        evidence: LaunchEvidence,
        localizations: [String]? = nil,
        installID: InstallID? = nil,
        firstInstalledAt: Timestamp? = nil,
        platform: Platform? = nil
    ) {
        self.evidence = evidence
        self.localizations = localizations
        self.installID = installID
        self.firstInstalledAt = firstInstalledAt
        self.platform = platform
    }
}
