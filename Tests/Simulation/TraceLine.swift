import Attribution

extension TraceEvent {
    /// The event as one line of JSON: what a server would be told, and the truth.
    public var json: String {
        switch self {
        case .click(let click):
            Self.object([
                ("event", quoted("click")), ("id", "\(click.number)"), ("at", "\(click.at.milliseconds)"),
                ("ip", click.address.map { quoted(Self.text(address: $0)) }),
                ("userAgent", quoted(click.userAgent)),
                ("campaign", "\(click.campaign)"), ("url", "\(click.url)"), ("device", click.device.json),
            ])
        case .launch(let launch):
            Self.object([
                ("event", quoted("launch")), ("at", "\(launch.at.milliseconds)"),
                ("fingerprintInput", quoted(launch.fingerprintText)),
                ("ip", launch.address.map { quoted(Self.text(address: $0)) }),
                ("userAgent", quoted(launch.userAgent)),
                ("token", launch.token.map { "\($0)" }), ("truth", launch.truth.json),
                ("device", launch.device.json),
            ])
        }
    }

    fileprivate static func object(_ fields: [(name: String, value: String?)]) -> String {
        let members = fields.compactMap { field in field.value.map { "\"\(field.name)\":\($0)" } }
        return "{\(members.joined(separator: ","))}"
    }

    private static func text(address: UInt32) -> String {
        [24, 16, 8, 0].map { "\(address >> UInt32($0) & 0xff)" }.joined(separator: ".")
    }
}

extension Device {
    fileprivate var json: String {
        TraceEvent.object([
            ("platform", quoted(platform.rawValue)), ("model", quoted(model)),
            ("osVersion", quoted(os.text(for: platform))), ("screenWidth", "\(width)"),
            ("screenHeight", "\(height)"), ("pixelRatio", "\(scale)"), ("timezone", quoted(zone)),
            ("language", quoted(language)), ("form", quoted(String(form))),
        ])
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
