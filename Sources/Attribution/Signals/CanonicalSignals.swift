/// A device's properties in the spelling that its own system uses, so that browser and app agree.
///
/// What is not known is nil, and stays so. Source: the matching notes, section 2.
public struct CanonicalSignals: Equatable, Sendable {
    public var platform: Platform
    /// `iPhone`, `iPad`, `iPod touch`, or Android's `Build.MODEL`.
    public var model: String?
    public var osVersion: OSVersion?
    public var screen: ScreenSize?
    /// As it came, not made canonical: clients hash the name that their system gives.
    public var timezone: String?
    /// A lower-case language code without region, as `tr`.
    public var language: String?

    public init(
        platform: Platform,
        model: String? = nil,
        osVersion: OSVersion? = nil,
        screen: ScreenSize? = nil,
        timezone: String? = nil,
        language: String? = nil
    ) {
        self.platform = platform
        self.model = model
        self.osVersion = osVersion
        self.screen = screen
        self.timezone = timezone
        self.language = language
    }

    /// - Parameters:
    ///   - signals: what a script saw.
    ///   - userAgent: the agent of the same visit, which fills what the script left open.
    ///   - platform: the platform the caller named, for where neither tells.
    public init(_ signals: DeviceSignals, userAgent: String, platform: Platform = .unknown) {
        let agent = UserAgent(userAgent, touchPoints: signals.touchPoints)
        let appleModel = Self.appleModel(signals.model, touchPoints: signals.touchPoints)
        self.platform = Self.platform(
            agent: agent,
            isApple: appleModel != nil,
            signals: signals,
            named: platform
        )
        screen = ScreenSize(signals.screenWidth, signals.screenHeight)
        timezone = Self.timeZone(signals.timezone)
        language = (signals.language ?? signals.languages?.first).flatMap(LanguageCode.canonical)
        if self.platform == .ios {
            model = appleModel ?? agent.model
            osVersion = Self.iosVersion(signals.osVersion, agent: agent)
        } else {
            model =
                signals.model.flatMap { AndroidModel.clean($0) } ?? signals.uaModel.flatMap {
                    AndroidModel.clean($0)
                }
                ?? agent.model
            osVersion = Self.androidVersion(signals, agent: agent, userAgent: userAgent)
        }
    }

    private static func platform(
        agent: UserAgent,
        isApple: Bool,
        signals: DeviceSignals,
        named: Platform
    ) -> Platform {
        if agent.platform == .ios || isApple { return .ios }
        if agent.platform == .android { return .android }
        return named == .unknown ? agent.platform : named
    }

    /// `UIDevice.model` for what a script or an app may call an Apple device; nil for any other model.
    private static func appleModel(_ model: String?, touchPoints: Int?) -> String? {
        guard let name = model?.trimmed.asciiLowercased else { return nil }
        if name.hasPrefix("iphone") { return "iPhone" }
        if name.hasPrefix("ipad") { return "iPad" }
        if name.hasPrefix("ipod") { return "iPod touch" }
        if name.hasPrefix("mac"), let touchPoints, touchPoints > 1 { return "iPad" }
        return nil
    }

    /// A script's version may be Safari's frozen one, which the whole agent can correct or at least doubt.
    private static func iosVersion(_ text: String?, agent: UserAgent) -> OSVersion? {
        guard let told = text.flatMap({ OSVersion($0.trimmed) }) else { return agent.osVersion }
        guard IOSAgent.isFrozen(told), agent.platform == .ios else { return told }
        return agent.osVersion
    }

    private static func androidVersion(_ signals: DeviceSignals, agent: UserAgent, userAgent: String)
        -> OSVersion?
    {
        if let version = signals.uaPlatformVersion.flatMap({ OSVersion($0.trimmed) }) { return version }
        guard let told = signals.osVersion.flatMap({ OSVersion($0.trimmed) }) else { return agent.osVersion }
        // A script that reads the reduced agent reports its `10`, which is every device's.
        let isReduced = agent.platform == .android && agent.osVersion == nil
        return isReduced && told == OSVersion(major: 10) ? nil : told
    }

    private static func timeZone(_ text: String?) -> String? {
        guard let name = text?.trimmed, !name.isEmpty, name.utf8.count <= 64 else { return nil }
        return name
    }
}
