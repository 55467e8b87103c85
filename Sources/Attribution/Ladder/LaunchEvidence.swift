/// Everything in a first launch by which it may be recognised, parsed but not yet verified.
public struct LaunchEvidence: Equatable, Sendable {
    /// The references to a click, the most direct first, each once.
    public private(set) var references: [ClickReference] = []
    public var idfa: AdvertisingID?
    public var gaid: AdvertisingID?
    /// The fingerprint that the client computed itself.
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

    /// Adds the references to a click, from the four places where a launch may have them.
    ///
    /// - Parameters:
    ///   - token: the field that the client calls a token.
    ///   - clickID: the field that the client calls the click's identifier.
    ///   - referrer: the text from the store.
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

    /// Adds an advertising id, unless there is one of this kind already.
    public mutating func add(_ id: AdvertisingID) {
        switch id.kind {
        case .idfa: idfa = idfa ?? id
        case .gaid: gaid = gaid ?? id
        }
    }

    /// Whether the evidence contains nothing that could find a click.
    public var isEmpty: Bool { self == LaunchEvidence() }
}

/// A first launch of a newer client, which sends its values instead of their hash.
public struct ResolveRequest: Equatable, Sendable {
    public var evidence: LaunchEvidence
    /// The languages that the app comes in, if the client sends them.
    public var localizations: [String]?
    public var installID: InstallID?
    /// When the app was first installed, according to the system; a reinstallation does not change it.
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
