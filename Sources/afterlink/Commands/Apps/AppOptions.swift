internal import Attribution
internal import Glibc
internal import JSON
internal import Server

/// The options of `apps create` and `apps set`.
enum AppSettingOptions {
    static let all =
        CommandOption.table([
            "open-clicks on|off": "Accept clicks that a landing page's script posts without a key.",
            "allowed-origin ORIGIN ...":
                "A web origin whose pages may post clicks, as in https://shop.example; `any` removes the limit.",
            "destination PREFIX ...":
                "The start that the link of a click without a server key must have, as in myapp:// or"
                + " https://shop.example; `any` removes the limit.",
            "attribution-window SECONDS":
                "The time after a click in which a first launch may be credited to it, 60 to 2592000; `default` takes the"
                + " server's setting.",
            "fingerprint-window SECONDS":
                "The longest time after a click in which a fingerprint may match it, 60 to 2592000; `none` leaves the"
                + " click's own window.",
            "deterministic-window SECONDS": "The same for tokens, click ids and advertising ids.",
            "localization LANGUAGE ...":
                "A language of the app by its name in Xcode (tr, pt-BR): iOS gives the app one of these instead of the"
                + " browser's language; `none` removes them.",
            "development-language LANGUAGE":
                "The language that iOS gives the app if none of its languages fits; `none` removes it.",
            "reporting-offset HOURS":
                "How many whole hours before midnight UTC the dashboard's days begin, -12 to 14, as in 3 for Istanbul;"
                + " 0 if it was never set.",
            "click-ids off|keep|answer":
                "Store no click ids of ad networks, such as gclid; store them with the click, the default; or send them to"
                + " the app with its first launch, too.",
            "conversion-schema DAY=FILE ...":
                "What Apple's conversion values mean from a day on, as in 2027-01-31=schema.json; a schema of the same day is"
                + " replaced, and `none` removes all.",
        ]) + MatchingOptions.all + AppLinkOptions.all

    /// Changes the settings that the arguments name, and keeps the others.
    static func apply(_ arguments: Arguments, to settings: inout App.Settings) throws {
        if let isOpen = try arguments.isOn("open-clicks") { settings.openClicks = isOpen }
        if let texts = arguments.values("allowed-origin") { settings.allowedOrigins = try origins(texts) }
        if let texts = arguments.values("destination") { settings.destinations = try destinations(texts) }
        let seconds = ValueKind<AttributionWindow>.window
        let window = try arguments.read("attribution-window", "must be \(seconds.allowed)") {
            try $0 == "default" ? .some(nil) : seconds.parse($0).map(Optional.some)
        }
        if let window { settings.window = window }
        let limits = [
            ("fingerprint-window", \MethodWindows.fingerprint),
            ("deterministic-window", \MethodWindows.deterministic),
        ]
        for (option, path) in limits {
            let limit = try arguments.read(option, "must be \(seconds.allowed), or none") {
                try $0 == "none" ? .some(nil) : seconds.parse($0).map(Optional.some)
            }
            if let limit { settings.policy.windows[keyPath: path] = limit }
        }
        if let texts = arguments.values("localization") {
            settings.localizations =
                try texts == ["none"] ? [] : texts.map { text in try language(text, of: "localization") }
        }
        if let text = arguments.value("development-language") {
            settings.developmentLanguage =
                try text == "none" ? nil : language(text, of: "development-language")
        }
        let hours = "must be whole hours from -12 to 14"
        let offset = try arguments.read("reporting-offset", hours, App.Settings.reportingOffset)
        if let offset { settings.reportingOffset = offset }
        settings.clickIDs = try arguments.word("click-ids") ?? settings.clickIDs
        for text in arguments.values("conversion-schema") ?? [] {
            settings.conversionSchemas = try schemas(text, over: settings.conversionSchemas)
        }
        try MatchingOptions.apply(arguments, to: &settings)
        try AppLinkOptions.apply(arguments, to: &settings)
    }

    private static func schemas(_ text: String, over texts: [String]) throws -> [String] {
        guard text != "none" else { return [] }
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        let (option, form) = ("conversion-schema", "a day and a file with JSON, as in 2027-01-31=schema.json")
        guard parts.count == 2 else { throw CommandFailure.wrongValue(option, text, "must be \(form)") }
        guard let bytes = try? OpenFile(parts[1], O_RDONLY).readAll(limit: 1 << 16) else {
            throw CommandFailure.wrongValue(
                option,
                text,
                "names a file that cannot be read; it must be \(form)"
            )
        }
        guard let json = try? JSONValue(parsing: bytes) else {
            throw CommandFailure.wrongValue(option, text, "names a file that is no JSON; it must be \(form)")
        }
        do throws(FieldProblem) {
            return try ConversionSchemas.texts(texts, setting: json, since: parts[0])
        } catch {
            throw CommandFailure.usage("--conversion-schema \(text) is not allowed.").advising(error.message)
        }
    }

    private static func language(_ text: String, of option: String) throws -> String {
        let isBase = text.lowercased() == "base"
        guard !isBase, text.utf8.count <= 35, DeviceData.embedded.languages.isTag(text) else {
            let base = "is not a language; name the one that Base stands for"
            let sentence =
                isBase ? base : "must be a language by its name in Xcode, as in tr, pt-BR or zh-Hans"
            throw CommandFailure.wrongValue(option, text, sentence)
        }
        return text
    }

    private static func origins(_ texts: [String]) throws -> [String] {
        guard texts != ["any"] else { return [] }
        return try texts.map { text in
            guard let origin = Origin(text) else {
                let sentence = "must be a scheme, a host and any unusual port, as in https://shop.example"
                throw CommandFailure.wrongValue("allowed-origin", text, sentence)
            }
            return origin.text
        }
    }

    private static func destinations(_ texts: [String]) throws -> [String] {
        guard texts != ["any"] else { return [] }
        return try texts.map { text in
            do throws(DestinationError) {
                return try Destination(parsing: text).text
            } catch {
                let sentence = "--destination \"\(text)\" is not allowed."
                throw CommandFailure(.usage, sentence, advice: error.message)
            }
        }
    }
}

/// The options of `apps create` and `apps set` for the policy of matching.
enum MatchingOptions {
    static let all = CommandOption.table([
        "matching probability|newest":
            "Require a minimum probability of a match by fingerprint, or match the newest click with the fingerprint, as"
            + " other services do. The stated confidence is the same under both.",
        "minimum-confidence P":
            "The probability that a match by fingerprint needs, 0 to 1; 0.7 if it was never set.",
        "on-ambiguity noMatch|newest|campaignOnly":
            "The result if a click led to the launch and no single click is probable enough: no match, the newest click, or"
            + " the campaign with the app's default link.",
        "fingerprinting on|off":
            "Match by fingerprint; with off, only tokens, click ids and advertising ids match.",
        "default-link URL":
            "The link that the app opens if a campaign is credited without the personal link; `none` removes it.",
    ])

    /// Changes the settings that the arguments name, and keeps the others.
    static func apply(_ arguments: Arguments, to settings: inout App.Settings) throws {
        settings.policy.rule = try arguments.word("matching") ?? settings.policy.rule
        let sentence = "must be a number from 0 to 1, as in 0.7"
        let minimum = try arguments.read("minimum-confidence", sentence, ValueText.probability)
        if let minimum { settings.policy.minimumConfidence = minimum }
        settings.policy.onAmbiguity = try arguments.word("on-ambiguity") ?? settings.policy.onAmbiguity
        if let isOn = try arguments.isOn("fingerprinting") { settings.policy.usesFingerprints = isOn }
        if let text = arguments.value("default-link") {
            settings.defaultLink = try text == "none" ? nil : link(text)
        }
    }

    /// - Throws: a failure of usage if the policy is `campaignOnly` and the app has no default link.
    static func check(_ settings: App.Settings) throws {
        guard settings.policy.onAmbiguity == .campaignOnly, settings.defaultLink == nil else { return }
        throw CommandFailure.usage("--on-ambiguity campaignOnly needs a default link, and the app has none.")
            .advising("Nothing was done. Give the link, too, as in --default-link myapp://home.")
    }

    private static func link(_ text: String) throws -> DeepLinkURL {
        do {
            return try DeepLinkURL(parsing: text)
        } catch {
            throw CommandFailure.usage("--default-link \"\(text)\" is not allowed.").advising(error.message)
        }
    }
}

/// The options of `apps create` and `apps set` for links, landing pages and domain files.
enum AppLinkOptions {
    static let all = AppLinkField.allCases.map { field in
        CommandOption(
            name(field),
            field.form.placeholder,
            isRepeatable: field.isList,
            help: field.form.help + " `none` removes \(field.isList ? "them" : "it")."
        )
    }

    /// Returns the option's name: the field's JSON name with hyphens, in the singular for a list.
    private static func name(_ field: AppLinkField) -> String {
        switch field {
        case .hosts: "link-host"
        case .webHosts: "web-host"
        case .iosBundles: "ios-bundle"
        case .iosAppClips: "ios-app-clip"
        case .androidCertificates: "android-certificate"
        case .rules: "link-rule"
        default: field.rawValue.replacing("_", with: "-")
        }
    }

    /// Changes the fields that the arguments name, and keeps the others.
    static func apply(_ arguments: Arguments, to settings: inout App.Settings) throws {
        var fields = settings.links.fields
        var isGiven = false
        for field in AppLinkField.allCases {
            guard let texts = arguments.values(name(field)) else { continue }
            isGiven = true
            // Without this check, the word would be stored as a value, for example as a host.
            for word in ["none", "any"] where texts.count > 1 && texts.contains(word) {
                throw CommandFailure.usage("--\(name(field)) \(word) contradicts a further --\(name(field)).")
                    .advising("Nothing was done. Give one of them.")
            }
            fields[field] = texts == ["none"] ? [] : texts.map { field.kind == .flag ? flag($0) : $0 }
        }
        guard isGiven else { return }
        do {
            settings.links = try AppLinks(fields, replacing: settings.links)
        } catch {
            throw CommandFailure.usage(error.all.map { inOptions($0.message) }.joined(separator: "\n"))
                .advising("Nothing was done. Correct it and run the command again.")
        }
    }

    private static func flag(_ text: String) -> String { ["on": "true", "off": "false"][text] ?? text }

    /// Replaces a field's name at the start of a message with the option's name, and values of JSON with the option's.
    private static func inOptions(_ message: String) -> String {
        guard let field = AppLinkField.allCases.first(where: { message.hasPrefix($0.rawValue) }) else {
            return message
        }
        let rest = String(message.dropFirst(field.rawValue.count))
        guard field.kind == .flag else { return "--\(name(field))" + rest }
        return "--\(name(field))" + rest.replacing("true or false", with: "on or off")
    }
}

extension AppLinkField {
    /// The placeholder of the option's value, and the option's help.
    fileprivate var form: (placeholder: String, help: String) {
        switch self {
        case .hosts: ("HOST", "A host that serves the app's links and domain files, as in go.shop.example.")
        case .webHosts: ("HOST", "Another host that links may lead to, as in shop.example; `any` allows all.")
        case .icon: ("URL", "The app's icon on pages.")
        case .color: ("#RRGGBB", "The app's colour on pages.")
        case .iosTeam: ("TEAM", "Apple's ten characters before the app's bundle id.")
        case .iosBundles: ("BUNDLE", "The bundle id of an app that opens the links.")
        case .iosStoreID: ("NUMBER", "The number in the address of the app's page in the App Store.")
        case .iosScheme: ("SCHEME", "The app's own scheme on iPhones, as in shopapp.")
        case .iosAppClips: ("BUNDLE", "The bundle id of an app clip.")
        case .webCredentials: ("on|off", "Whether the app and its link hosts share passwords.")
        case .androidPackage: ("PACKAGE", "The app's package name, as in com.example.shop.")
        case .androidCertificates: ("SHA-256", "The SHA-256 of a certificate that the app is signed with.")
        case .androidScheme: ("SCHEME", "The app's own scheme on Android.")
        case .iosFallback: ("URL", "The page that iPhones without the app open instead of the App Store.")
        case .androidFallback:
            ("URL", "The page that Android phones without the app open instead of Google Play.")
        case .huaweiFallback: ("URL", "The page that Huawei's phones without the app open.")
        case .desktopURL: ("URL", "The page that desktop browsers get instead of the page with a QR code.")
        case .rules:
            (
                "RULE",
                "URLs that open the app, as in '/products/*' or 'exclude /terms'; without rules, all URLs open it."
            )
        case .postbackHost:
            ("DOMAIN", "The shop's domain, to which Apple's devices send postbacks, as in shop.example.")
        case .appleAds: ("on|off", "Whether attribution tokens are exchanged with Apple Ads.")
        case .developmentPostbacks:
            ("on|off", "Whether reports count Apple's postbacks that are signed for development.")
        }
    }
}
