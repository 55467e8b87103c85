/// What an app's links and its domain files need to know of it.
public struct AppLinks: Equatable, Sendable {
    /// Hosts whose links and domain files are answered for the app, in the operator's order; several apps may share one.
    public var hosts: [LinkHost] = []
    /// Shown on pages for people.
    public var icon: WebURL?
    /// `#rrggbb`, for pages for people.
    public var color: String?
    public var apple = AppleApp()
    public var android = AndroidApp()
    /// Where a browser goes where the app is not installed, and the link says nothing else.
    public var fallbacks = Link.Fallbacks()
    /// Hosts besides ``hosts`` that links and fallbacks may lead to; nil allows any.
    public var webHosts: [String]? = []
    /// Which URLs of ``hosts`` open the app where it is installed; none opens all.
    public var rules: [LinkRule] = []

    public init() {}
}

/// An app in Apple's store and its domain file.
public struct AppleApp: Equatable, Sendable {
    /// Ten letters and digits, or another app id prefix.
    public var teamID: String?
    public var bundleIDs: [String] = []
    /// The number in the address of the store's page.
    public var appStoreID: UInt64?
    /// Without `://`.
    public var scheme: String?
    /// Bundle ids of app clips.
    public var appClipIDs: [String] = []
    /// Whether passwords are shared between the app and its link hosts.
    public var sharesWebCredentials = false

    public init() {}
}

/// An app in Google's store and its domain file.
public struct AndroidApp: Equatable, Sendable {
    public var package: String?
    /// SHA-256 of its signing certificates: 32 bytes as upper-case hex with colons.
    public var certificateFingerprints: [String] = []
    /// Without `://`.
    public var scheme: String?

    public init() {}
}

/// A host name that links are served on, in lower case and ASCII, without a port.
public struct LinkHost: Hashable, Sendable {
    public let text: String

    /// Reads a `Host` field: a host name, or one with a port, which is dropped.
    public init?(_ text: String) {
        guard let host = try? URLHost(Array(text.trimmed.utf8)[...], isWeb: true), host.name.utf8.count <= 253
        else {
            return nil
        }
        self.text = host.name
    }

    /// Reads what an operator calls a host: a name alone.
    public init?(naming text: String) {
        guard let host = LinkHost(text), host.text == text.trimmed.asciiLowercased else { return nil }
        self = host
    }
}
