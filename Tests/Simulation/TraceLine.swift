import Attribution

extension TraceEvent {
    /// The event as one line of a trace: what a server would be told, and the truth.
    public var json: String {
        switch self {
        case .click(let click):
            Self.object([
                ("event", quoted("click")), ("at", quoted(click.at.iso8601)), ("id", "\(click.number)"),
                ("ip_address", click.address.map { quoted(NetworkAddress(ipv4: $0).text) }),
                ("user_agent", quoted(click.userAgent)), ("platform", quoted(click.device.platform.rawValue)),
                ("deeplink_url", quoted(click.link)), ("campaign_key", quoted(click.campaignKey)),
                ("signals", click.device.browserSignals), ("person", quoted("\(click.person)")),
            ])
        case .launch(let launch):
            Self.object([
                ("event", quoted("launch")), ("at", quoted(launch.at.iso8601)),
                ("fingerprint_input", quoted(launch.fingerprintText)),
                ("ip_address", launch.address.map { quoted(NetworkAddress(ipv4: $0).text) }),
                ("user_agent", quoted(launch.agent)), ("platform", quoted(launch.device.platform.rawValue)),
                ("token", launch.token.map { "\($0)" }), ("truth", launch.truth.json),
                ("person", quoted("\(launch.person)")),
            ])
        }
    }

    fileprivate static func object(_ fields: [(name: String, value: String?)]) -> String {
        let members = fields.compactMap { field in field.value.map { "\"\(field.name)\":\($0)" } }
        return "{\(members.joined(separator: ","))}"
    }
}

extension Device {
    /// What a page's script sees: of an iPhone no patch of the system, of an Android its system not at all.
    public var browserSignals: String {
        let isApple = platform == .ios
        return TraceEvent.object([
            (isApple ? "model" : "uaModel", quoted(model)),
            ("osVersion", isApple ? quoted(os.majorMinorText(for: .ios)) : nil),
            ("screenWidth", "\(width)"), ("screenHeight", "\(height)"), ("pixelRatio", "\(scale)"),
            ("timezone", quoted(zone)), ("language", quoted(language)), ("touchPoints", "5"),
        ])
    }
}

extension TracedClick {
    public var link: String { "myapp://promo/\(url)" }
    public var campaignKey: String { "CAMPAIGN\(campaign)" }
}

extension TracedLaunch {
    /// The agent of an app's own requests; one that the app has chosen itself tells nothing.
    public var agent: String {
        guard let release else { return "MyApp/1.0" }
        guard release.platform == .ios else {
            return "Dalvik/2.1.0 (Linux; U; Android \(release.major); \(device.model) Build/UP1A)"
        }
        let darwin = release.major < 26 ? release.major + 6 : release.major - 1
        return "MyApp/1 CFNetwork/1568.1 Darwin/\(darwin).\(release.minor ?? 0).0"
    }
}

extension TracedLaunch.Truth {
    fileprivate var json: String {
        switch self {
        case .click(let number): "{\"click\":\(number)}"
        case .organic: quoted("organic")
        case .reinstall: quoted("reinstall")
        case .retry: quoted("retry")
        }
    }
}

/// Simulated texts hold nothing that JSON escapes.
private func quoted(_ text: String) -> String { "\"\(text)\"" }
