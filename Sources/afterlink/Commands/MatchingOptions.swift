internal import Attribution

/// The options of `apps create` and `apps set` that say when a first launch is credited to a click.
enum MatchingOptions {
    static let all = [
        CommandOption(
            "matching",
            "probability|newest",
            help:
                "Require a probability of a match by fingerprint, or match the newest click with it, as other services do."
                + " The stated confidence is the same."
        ),
        CommandOption(
            "minimum-confidence",
            "P",
            help: "The probability that a match by fingerprint needs, 0 to 1; 0.7 if it was never set."
        ),
        CommandOption(
            "on-ambiguity",
            "noMatch|newest|campaignOnly",
            help:
                "What to return if a click led to the launch and several may be it: no match, the newest, or the campaign"
                + " with the app's default link."
        ),
        CommandOption(
            "fingerprinting",
            "on|off",
            help:
                "Match by fingerprint; off, only tokens, click ids and advertising ids match."
        ),
        CommandOption(
            "default-link",
            "URL",
            help:
                "What the app opens if a campaign is credited without the personal link; `none` removes it."
        ),
    ]

    /// Changes what the arguments name and leaves the rest.
    static func apply(_ arguments: Arguments, to settings: inout App.Settings) throws {
        if let text = arguments.value("matching") {
            settings.policy.rule = try word(text, of: "matching")
        }
        if let text = arguments.value("minimum-confidence") {
            guard let probability = ValueText.probability(text) else {
                throw CommandFailure.wrongValue(
                    "minimum-confidence",
                    text,
                    "must be a number from 0 to 1, as in 0.7"
                )
            }
            settings.policy.minimumConfidence = probability
        }
        if let text = arguments.value("on-ambiguity") {
            settings.policy.onAmbiguity = try word(text, of: "on-ambiguity")
        }
        if let text = arguments.value("fingerprinting") {
            guard let isOn = ["on": true, "off": false][text] else {
                throw CommandFailure.wrongValue("fingerprinting", text, "must be on or off")
            }
            settings.policy.usesFingerprints = isOn
        }
        if let text = arguments.value("default-link") {
            settings.defaultLink = try text == "none" ? nil : link(text)
        }
    }

    /// - Throws: where the settings as a whole cannot be followed.
    static func check(_ settings: App.Settings) throws {
        guard settings.policy.onAmbiguity == .campaignOnly, settings.defaultLink == nil else { return }
        throw CommandFailure(
            .usage,
            "--on-ambiguity campaignOnly needs a link to answer where the personal one is left out, and the app has"
                + " none.",
            advice: "Give one with it, as in --default-link myapp://home; this time nothing was done."
        )
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
            CommandFailure(
                .usage,
                "--default-link \"\(text)\" is not allowed.",
                advice: error.message
            )
        }
    }
}
