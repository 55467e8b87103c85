package import Attribution
package import Server

/// The trials that a command line chooses: each a click and a launch to send to a server.
package struct TrialChoice: Sendable {
    package let profiles: [BrowserProfile]
    private let device: TrialDevice?
    private let release: SDKRelease?
    private let sendsRawSignals: Bool
    /// Whether the Swift client library makes the launches.
    package let runsLibrary: Bool
    /// The texts of the options that change the person or the device.
    private let texts: [String: String]
    package let poster: Trial.Poster
    private let target: Trial.Target?
    package let broughtToken: Bool
    package let play: Trial.PlayReport?
    /// The time between click and launch in milliseconds; nil for the server's own clock.
    package let delay: Int64?
    package let isAll: Bool

    /// The profile of a trial without `--profile`.
    private static let standardProfile = "safari-ios-26"
    private static let libraryName = "swift"

    package init(_ arguments: Arguments) throws {
        isAll = arguments.has("all")
        if isAll, let option = ["profile", "device"].first(where: arguments.has) {
            throw CommandFailure.usage(
                "--all tries every profile with its own device, and --\(option) chooses one."
            ).advising("Leave one of them out.")
        }
        let name = arguments.value("profile") ?? Self.standardProfile
        profiles =
            isAll ? BrowserProfile.all : [try Self.find("profile", name, in: BrowserProfile.all, \.name)]
        device = try arguments.value("device").map {
            try Self.find("device", $0, in: TrialDevice.all, \.name)
        }
        release = try arguments.value("sdk").map { try Self.find("sdk", $0, in: SDKRelease.all, \.name) }
        runsLibrary =
            try arguments.read("client", "must be swift") { $0 == Self.libraryName ? true : nil } ?? false
        sendsRawSignals = arguments.has("resolve") || runsLibrary
        if sendsRawSignals, release != nil {
            throw CommandFailure.usage(
                "--sdk chooses a release that sends a hash, and --\(runsLibrary ? "client" : "resolve") sends values."
            ).advising("Leave one of them out.")
        }
        if runsLibrary, arguments.has("play") {
            throw CommandFailure.usage("The Swift library does not read Google Play's report of --play.")
                .advising("Leave --client or --play out.")
        }
        let changes = ["timezone", "language", "device-timezone", "device-language", "model", "os-version"]
        texts = try changes.reduce(into: [:]) { $0[$1] = try Self.text($1, arguments) }
        poster =
            try arguments.read("as", "must be test, page, app or server") { Trial.Poster(rawValue: $0) }
            ?? .test
        target = try Self.target(arguments)
        broughtToken = arguments.has("token")
        play = try arguments.read("play", "must be none, injection or spamming") {
            Trial.PlayReport(rawValue: $0)
        }
        let sentence = "must be a time such as 90s, 10m, 25h or 8d"
        delay = try arguments.read("delay", sentence, TimeArgument.milliseconds)
    }

    /// The campaign under which the clicks count, in words.
    var campaign: String {
        if case .link = target { return "the link's campaign, if it has one" }
        return "the campaign \(Trial.standardCampaign)"
    }

    /// Returns the trial of one of the profiles.
    ///
    /// - Parameters:
    ///   - profile: the browser of the click.
    ///   - prefix: the start of the link without `--url`; each trial has its own link, so that the server does not take its
    ///     click for a repetition of another one.
    ///   - app: the app of the click, if the key does not determine it.
    ///   - localization: the languages of the app; iOS gives it one of these.
    ///   - number: a number that no other trial has.
    /// - Returns: the trial, which has not been sent.
    /// - Throws: if the chosen release does not run on the device.
    package func trial(
        of profile: BrowserProfile,
        prefix: String,
        app: String?,
        localization: AppLocalization = .unknown,
        number: UInt64
    ) throws -> Trial {
        let device = try device(for: profile)
        guard play == nil || device.platform == .android else {
            throw CommandFailure.usage(
                "--play reports an installation from Google Play, which \(device.name) does not have."
            )
            .advising("Choose an Android browser, as in --profile chrome-android.")
        }
        return Trial(
            profile: profile,
            device: device,
            release: try release(for: device),
            person: person(of: profile, on: device.platform, localization),
            poster: poster,
            destination: target ?? .url(prefix + Trial.journey(number)),
            number: number,
            app: poster == .page ? app : nil,
            localization: localization
        )
    }

    private func device(for profile: BrowserProfile) throws -> TrialDevice {
        var device = try self.device ?? Self.find("device", profile.device, in: TrialDevice.all, \.name)
        // The profile's own device has the system version that was recorded with the browser.
        if device.name == profile.device { device.osVersion = profile.osVersion }
        if let model = texts["model"] { device.model = model }
        if let osVersion = texts["os-version"] { device.osVersion = osVersion }
        return device
    }

    private func release(for device: TrialDevice) throws -> SDKRelease {
        if runsLibrary { return SDKRelease(withValuesOn: device.platform, name: Self.libraryName) }
        if sendsRawSignals { return SDKRelease(withValuesOn: device.platform) }
        if let release {
            if release.platform == device.platform { return release }
            guard isAll else {
                throw CommandFailure.usage(
                    "The SDK \(release.name) does not run on the device \(device.name)."
                ).advising("Leave --sdk out for the newest one that does, or choose another --device.")
            }
        }
        guard let newest = SDKRelease.all.last(where: { $0.platform == device.platform }) else {
            preconditionFailure("there is a release for every platform of a device")
        }
        return newest
    }

    private func person(
        of profile: BrowserProfile,
        on platform: Platform,
        _ localization: AppLocalization
    ) -> TrialPerson {
        var person = profile.person
        if let zone = texts["timezone"] { (person.browserTimezone, person.deviceTimezone) = (zone, zone) }
        if let zone = texts["device-timezone"] { person.deviceTimezone = zone }
        if let language = texts["language"] { person.languages = [language] }
        person.deviceLanguage = texts["device-language"]
        if person.deviceLanguage == nil, platform == .ios {
            let codes = person.languages.compactMap { DeviceData.embedded.languages.canonical($0) }
            person.deviceLanguage = localization.negotiated(codes)
        }
        return person
    }

    private static func find<Value>(
        _ option: String,
        _ text: String,
        in values: [Value],
        _ name: (Value) -> String
    ) throws -> Value {
        if let value = values.first(where: { name($0) == text }) { return value }
        let near = Suggestion.nearest(to: text, among: values.map(name))
        throw CommandFailure.usage("There is no \(option) \"\(text)\".")
            .advising((near.map { "Did you mean \($0)? " } ?? "") + "`afterlink simulate --list` shows all.")
    }

    private static func text(_ option: String, _ arguments: Arguments) throws -> String? {
        let rule = "must have 1 to 100 printable ASCII characters, and no |"
        let text: String? = try arguments.read(option, rule) { text in
            // The text is sent in header fields, and hashed between the bars of a fingerprint's input.
            let isPrintable = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            return (1...100).contains(text.utf8.count) && isPrintable && !text.contains("|") ? text : nil
        }
        guard let text, let problem = Self.problem(of: text, for: option) else { return text }
        throw CommandFailure.wrongValue(option, text, problem)
    }

    /// Returns the rule that a text breaks; nil if the option accepts the text.
    private static func problem(of text: String, for option: String) -> String? {
        let data = DeviceData.embedded
        switch option {
        case "timezone", "device-timezone":
            let rule = "must be the name of a time zone, as in Europe/Berlin"
            return data.timeZones.isKnown(text) ? nil : rule
        case "language", "device-language":
            return data.languages.canonical(text) != nil ? nil : "must be a language, as in de-DE"
        case "os-version": return OSVersion(text) != nil ? nil : "must be a system's version, as in 26.4.1"
        default: return nil
        }
    }

    private static func target(_ arguments: Arguments) throws -> Trial.Target? {
        switch (arguments.value("url"), arguments.value("link")) {
        case (nil, nil): return nil
        case (let url?, nil): return .url(url)
        case (nil, let link?): return .link(link)
        case (_?, _?):
            throw CommandFailure.usage("--url and --link both name the click's destination.")
                .advising("Leave one of them out.")
        }
    }
}
