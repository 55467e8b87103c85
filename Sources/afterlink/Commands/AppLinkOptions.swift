internal import Attribution

/// The options of `apps create` and `apps set` that links, landing pages and domain files need.
enum AppLinkOptions {
    static let all = AppLinkField.allCases.map { field in
        CommandOption(
            name(field),
            field.placeholder,
            isRepeatable: field.isList,
            help: field.help + " `none` removes \(field.isList ? "them" : "it")."
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
            CommandFailure(
                .usage,
                error.all.map { inOptions($0.message) }.joined(separator: "\n"),
                advice: "Correct it and run the command again; this time nothing was done."
            )
        }
    }

    private static func flag(_ text: String) -> String {
        ["on": "true", "off": "false"][text] ?? text
    }

    /// Names the option instead of the field.
    private static func inOptions(_ message: String) -> String {
        guard let field = AppLinkField.allCases.first(where: { message.hasPrefix($0.rawValue) }) else {
            return message
        }
        return "--\(name(field))" + message.dropFirst(field.rawValue.count)
    }
}

extension AppLinkField {
    fileprivate var placeholder: String {
        switch self {
        case .hosts, .webHosts: "HOST"
        case .icon, .iosFallback, .androidFallback, .huaweiFallback, .desktopURL: "URL"
        case .color: "#RRGGBB"
        case .iosTeam: "TEAM"
        case .iosBundles, .iosAppClips: "BUNDLE"
        case .iosStoreID: "NUMBER"
        case .iosScheme, .androidScheme: "SCHEME"
        case .webCredentials: "on|off"
        case .androidPackage: "PACKAGE"
        case .androidCertificates: "SHA-256"
        case .rules: "RULE"
        }
    }

    fileprivate var help: String {
        switch self {
        case .hosts: "A host that serves the app's links and domain files, as in go.shop.example."
        case .webHosts: "A host besides these that links may lead to, as in shop.example; `any` allows all."
        case .icon: "The app's icon, for pages for people."
        case .color: "The app's colour, for pages for people."
        case .iosTeam: "Apple's ten characters before the app's bundle id."
        case .iosBundles: "The bundle id of an app that opens the links."
        case .iosStoreID: "The number in the address of the app's page in the App Store."
        case .iosScheme: "The app's own scheme on iPhones, as in shopapp."
        case .iosAppClips: "The bundle id of an app clip."
        case .webCredentials: "Whether the app and its link hosts share passwords."
        case .androidPackage: "The app's package name, as in com.example.shop."
        case .androidCertificates: "The SHA-256 of a certificate that the app is signed with."
        case .androidScheme: "The app's own scheme on Android."
        case .iosFallback: "Where iPhones without the app are sent instead of the App Store."
        case .androidFallback: "Where Android phones without the app are sent instead of Google Play."
        case .huaweiFallback: "Where Huawei's phones without the app are sent."
        case .desktopURL: "Where desktop browsers are sent instead of a page that hands over to the phone."
        case .rules: "Which URLs open the app, as in '/products/*' or 'exclude /terms'; without any, all do."
        }
    }
}
