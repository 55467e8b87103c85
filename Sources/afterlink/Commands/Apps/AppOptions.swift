internal import Attribution

/// The options of `apps create` and `apps set` that say how an app behaves.
enum AppSettingOptions {
    static let all =
        CommandOption.table([
            "open-clicks on|off": "Accept clicks without a key, as a landing page's script posts them.",
            "allowed-origin ORIGIN ...":
                "A web origin whose pages may post clicks, as in https://shop.example; `any` lifts the limit.",
            "destination PREFIX ...":
                "Where clicks without a key may lead, as in myapp:// or https://shop.example; `any` lifts the limit.",
            "attribution-window SECONDS":
                "How long after a click a first launch may be credited to it, 60 to 2592000; `default` takes the server's.",
            "localization LANGUAGE ...":
                "A language that the app comes in, as Xcode names it (tr, pt-BR): iOS gives the app one of them, not the"
                + " browser's; `none` removes them.",
            "development-language LANGUAGE":
                "The language that the app falls back to where none of its own fits; `none` removes it.",
        ]) + MatchingOptions.all + AppLinkOptions.all

    /// Changes what the arguments name and leaves the rest.
    static func apply(_ arguments: Arguments, to settings: inout App.Settings) throws {
        if let isOpen = try arguments.isOn("open-clicks") { settings.openClicks = isOpen }
        if let texts = arguments.values("allowed-origin") { settings.allowedOrigins = try origins(texts) }
        if let texts = arguments.values("destination") { settings.destinations = try destinations(texts) }
        let window = try arguments.read(
            "attribution-window",
            "must be a whole number of seconds from 60 to 2592000",
            { try $0 == "default" ? .some(nil) : ValueKind.window.parse($0).map(Optional.some) }
        )
        if let window { settings.window = window }
        if let texts = arguments.values("localization") {
            settings.localizations =
                try texts == ["none"] ? [] : texts.map { text in try language(text, of: "localization") }
        }
        if let text = arguments.value("development-language") {
            settings.developmentLanguage =
                try text == "none" ? nil : language(text, of: "development-language")
        }
        try MatchingOptions.apply(arguments, to: &settings)
        try AppLinkOptions.apply(arguments, to: &settings)
    }

    private static func language(_ text: String, of option: String) throws -> String {
        let isBase = text.lowercased() == "base"
        guard !isBase, text.utf8.count <= 35, DeviceData.embedded.languages.canonical(text) != nil else {
            throw CommandFailure.wrongValue(
                option,
                text,
                isBase
                    ? "is no language; name the one that Base stands for"
                    : "must be a language as Xcode names it, as in tr, pt-BR or zh-Hans"
            )
        }
        return text
    }

    private static func origins(_ texts: [String]) throws -> [String] {
        guard texts != ["any"] else { return [] }
        var origins: [String] = []
        for text in texts {
            guard let origin = Origin(text) else {
                throw CommandFailure.wrongValue(
                    "allowed-origin",
                    text,
                    "must be a scheme and a host, with a port where it is not the usual one, as in https://shop.example"
                )
            }
            origins.append(origin.text)
        }
        return origins
    }

    private static func destinations(_ texts: [String]) throws -> [String] {
        guard texts != ["any"] else { return [] }
        return try texts.map { text in
            try attempt {
                try Destination(parsing: text).text
            } orElse: { (error: DestinationError) in
                CommandFailure(.usage, "--destination \"\(text)\" is not allowed.", advice: error.message)
            }
        }
    }
}

/// The options of `apps create` and `apps set` that say when a first launch is credited to a click.
enum MatchingOptions {
    static let all = CommandOption.table([
        "matching probability|newest":
            "Require a probability of a match by fingerprint, or match the newest click with it, as other services do."
            + " The stated confidence is the same.",
        "minimum-confidence P":
            "The probability that a match by fingerprint needs, 0 to 1; 0.7 if it was never set.",
        "on-ambiguity noMatch|newest|campaignOnly":
            "What to return if a click led to the launch and several may be it: no match, the newest, or the campaign"
            + " with the app's default link.",
        "fingerprinting on|off":
            "Match by fingerprint; off, only tokens, click ids and advertising ids match.",
        "default-link URL":
            "What the app opens if a campaign is credited without the personal link; `none` removes it.",
    ])

    /// Changes what the arguments name and leaves the rest.
    static func apply(_ arguments: Arguments, to settings: inout App.Settings) throws {
        if let text = arguments.value("matching") { settings.policy.rule = try word(text, of: "matching") }
        let minimum = try arguments.read(
            "minimum-confidence",
            "must be a number from 0 to 1, as in 0.7",
            ValueText.probability
        )
        if let minimum { settings.policy.minimumConfidence = minimum }
        if let text = arguments.value("on-ambiguity") {
            settings.policy.onAmbiguity = try word(text, of: "on-ambiguity")
        }
        if let isOn = try arguments.isOn("fingerprinting") { settings.policy.usesFingerprints = isOn }
        if let text = arguments.value("default-link") {
            settings.defaultLink = try text == "none" ? nil : link(text)
        }
    }

    /// - Throws: where the settings as a whole cannot be followed.
    static func check(_ settings: App.Settings) throws {
        guard settings.policy.onAmbiguity == .campaignOnly, settings.defaultLink == nil else { return }
        throw CommandFailure.usage(
            "--on-ambiguity campaignOnly needs a link to answer where the personal one is left out, and the app has"
                + " none."
        )
        .advising("Give one with it, as in --default-link myapp://home; this time nothing was done.")
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ text: String,
        of option: String
    ) throws -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            let allowed = Word.allCases.map { $0.rawValue }.joined(separator: ", ")
            throw CommandFailure.wrongValue(option, text, "must be one of \(allowed)")
        }
        return word
    }

    private static func link(_ text: String) throws -> DeepLinkURL {
        try attempt {
            try DeepLinkURL(parsing: text)
        } orElse: { (error: DeepLinkURLError) in
            CommandFailure(.usage, "--default-link \"\(text)\" is not allowed.", advice: error.message)
        }
    }
}

/// The options of `apps create` and `apps set` that links, landing pages and domain files need.
enum AppLinkOptions {
    static let all = AppLinkField.allCases.map { field in
        CommandOption(
            name(field),
            field.form.placeholder,
            isRepeatable: field.isList,
            help: field.form.help + " `none` removes \(field.isList ? "them" : "it")."
        )
    }

    /// The field's name on the wire, with hyphens; that of one text where there may be several.
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

    /// Changes what the arguments name and leaves the rest.
    static func apply(_ arguments: Arguments, to settings: inout App.Settings) throws {
        var fields = settings.links.fields
        var isGiven = false
        for field in AppLinkField.allCases {
            guard let texts = arguments.values(name(field)) else { continue }
            isGiven = true
            fields[field] = texts == ["none"] ? [] : texts.map { field.kind == .flag ? flag($0) : $0 }
        }
        guard isGiven else { return }
        settings.links = try attempt {
            try AppLinks(fields)
        } orElse: { (error: FieldProblems) in
            CommandFailure.usage(error.all.map { inOptions($0.message) }.joined(separator: "\n"))
                .advising("Correct it and run the command again; this time nothing was done.")
        }
    }

    private static func flag(_ text: String) -> String { ["on": "true", "off": "false"][text] ?? text }

    /// Names the option instead of the field.
    private static func inOptions(_ message: String) -> String {
        guard let field = AppLinkField.allCases.first(where: { message.hasPrefix($0.rawValue) }) else {
            return message
        }
        return "--\(name(field))" + message.dropFirst(field.rawValue.count)
    }
}

extension AppLinkField {
    /// The placeholder of its value, and what the help says of it.
    fileprivate var form: (placeholder: String, help: String) {
        switch self {
        case .hosts: ("HOST", "A host that serves the app's links and domain files, as in go.shop.example.")
        case .webHosts:
            ("HOST", "A host besides these that links may lead to, as in shop.example; `any` allows all.")
        case .icon: ("URL", "The app's icon, for pages for people.")
        case .color: ("#RRGGBB", "The app's colour, for pages for people.")
        case .iosTeam: ("TEAM", "Apple's ten characters before the app's bundle id.")
        case .iosBundles: ("BUNDLE", "The bundle id of an app that opens the links.")
        case .iosStoreID: ("NUMBER", "The number in the address of the app's page in the App Store.")
        case .iosScheme: ("SCHEME", "The app's own scheme on iPhones, as in shopapp.")
        case .iosAppClips: ("BUNDLE", "The bundle id of an app clip.")
        case .webCredentials: ("on|off", "Whether the app and its link hosts share passwords.")
        case .androidPackage: ("PACKAGE", "The app's package name, as in com.example.shop.")
        case .androidCertificates: ("SHA-256", "The SHA-256 of a certificate that the app is signed with.")
        case .androidScheme: ("SCHEME", "The app's own scheme on Android.")
        case .iosFallback: ("URL", "Where iPhones without the app are sent instead of the App Store.")
        case .androidFallback:
            ("URL", "Where Android phones without the app are sent instead of Google Play.")
        case .huaweiFallback: ("URL", "Where Huawei's phones without the app are sent.")
        case .desktopURL:
            ("URL", "Where desktop browsers are sent instead of a page that hands over to the phone.")
        case .rules:
            ("RULE", "Which URLs open the app, as in '/products/*' or 'exclude /terms'; without any, all do.")
        }
    }
}
