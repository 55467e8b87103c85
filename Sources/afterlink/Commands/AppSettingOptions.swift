internal import Attribution

/// The options of `apps create` and `apps set` that say how an app behaves.
enum AppSettingOptions {
    static let all =
        [
            CommandOption(
                "open-clicks",
                "on|off",
                help: "Whether clicks without a key are accepted, as a landing page's script posts them."
            ),
            CommandOption(
                "allowed-origin",
                "ORIGIN",
                isRepeatable: true,
                help:
                    "A web origin whose pages may post clicks, as in https://shop.example; `any` lifts the limit."
            ),
            CommandOption(
                "destination",
                "PREFIX",
                isRepeatable: true,
                help:
                    "Where strangers' clicks may lead, as in myapp:// or https://shop.example; `any` lifts the limit."
            ),
            CommandOption(
                "attribution-window",
                "SECONDS",
                help:
                    "How long after a click a first launch may be credited to it, 60 to 2592000; `default` takes the"
                    + " server's."
            ),
            CommandOption(
                "localization",
                "LANGUAGE",
                isRepeatable: true,
                help:
                    "A language that the app comes in, as Xcode names it (tr, pt-BR): iOS gives the app one of them, not"
                    + " the browser's; `none` removes them."
            ),
            CommandOption(
                "development-language",
                "LANGUAGE",
                help: "The language that the app falls back to where none of its own fits; `none` forgets it."
            ),
        ] + MatchingOptions.all + AppLinkOptions.all

    /// Changes what the arguments name and leaves the rest.
    static func apply(_ arguments: Arguments, to settings: inout App.Settings) throws {
        if let text = arguments.value("open-clicks") {
            guard let isOpen = ["on": true, "off": false][text] else {
                throw CommandFailure.wrongValue("open-clicks", text, "must be on or off")
            }
            settings.openClicks = isOpen
        }
        if let texts = arguments.values("allowed-origin") {
            settings.allowedOrigins = try origins(texts)
        }
        if let texts = arguments.values("destination") {
            settings.destinations = try destinations(texts)
        }
        if let text = arguments.value("attribution-window") {
            settings.window = try window(text)
        }
        if let texts = arguments.values("localization") {
            settings.localizations =
                try texts == ["none"]
                ? [] : texts.map { text in try language(text, of: "localization") }
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

    private static func window(_ text: String) throws -> AttributionWindow? {
        guard text != "default" else { return nil }
        let seconds: Int64? = ValueText.integer(text, in: AttributionWindow.allowedSeconds)
        guard let window = seconds.flatMap(AttributionWindow.init(seconds:)) else {
            throw CommandFailure.wrongValue(
                "attribution-window",
                text,
                "must be a whole number of seconds from 60 to 2592000"
            )
        }
        return window
    }
}
