package import Attribution

/// A click in one browser and a first launch on one device, chosen and not yet sent.
package struct Trial: Sendable {
    /// Who posts the click, and with which key it and the launch are sent.
    ///
    /// The raw value is the word on the command line.
    package enum Poster: String, CaseIterable, Sendable {
        /// A page with a test key: neither click nor launch is seen by live keys or counted with live ones.
        case test
        /// A landing page without a key.
        case page
        /// A page with the app key.
        case app
        /// A customer's own server, which says whose browser it was.
        case server

        /// The kind of key that the launch needs.
        package var keyKind: KeyKind {
            switch self {
            case .test: .test
            case .page, .app: .app
            case .server: .server
            }
        }
    }

    package let profile: BrowserProfile
    package let device: TrialDevice
    package let release: SDKRelease
    let person: TrialPerson
    package let poster: Poster
    /// Where the click leads.
    package let destination: Target
    /// The click's, unlike that of any other trial.
    package let journey: String
    /// The number of the app's build, so that no two trials come from one caller.
    let build: String
    /// Whose click it is, where the key does not say it.
    let app: String?
    /// The languages that the app comes in, where they are known here.
    let localization: AppLocalization

    package enum Target: Equatable, Sendable {
        case url(String)
        /// A link of the server's own, by its slug.
        case link(String)
    }

    /// What the link begins with where none was chosen.
    static let standardPrefix = "myapp://simulated/"
    static let campaignKey = "SIMULATED"

    /// What the server reads of the visit: all that the browser sends, or what a customer's server says of it.
    var visit: VisitHeaders {
        guard poster != .server else { return VisitHeaders(userAgent: profile.agent) }
        func hint(_ name: String) -> String? { profile.fieldHints.first { $0.name == name }?.value }
        return VisitHeaders(
            userAgent: profile.agent,
            hints: ClientHints(
                platformField: hint("Sec-CH-UA-Platform"),
                mobileField: hint("Sec-CH-UA-Mobile"),
                modelField: hint("Sec-CH-UA-Model"),
                platformVersionField: hint("Sec-CH-UA-Platform-Version")
            ),
            acceptLanguage: person.acceptLanguage
        )
    }

    /// What the page's script sends.
    var signals: DeviceSignals { profile.signals(of: person) }

    /// What a launch is found by that tells its values: the server makes these of them, the one that holds least first.
    package var inputsOfValues: [FingerprintInput] {
        let native = device.values(for: person).withLanguageOfClicks(
            localization,
            told: nil,
            languages: DeviceData.embedded.languages
        )
        return CanonicalSignals(native).inputs().reversed()
    }

    /// What the SDK hashes at the first launch, or the server of what it says.
    package var launch: FingerprintInput {
        if release.sendsRawSignals, let input = inputsOfValues.first { return input }
        let values = release.form.components.map { device.value(of: $0, for: person) }
        guard let input = FingerprintInput(form: release.form, values: values) else {
            preconditionFailure("there is a value for each component of the form")
        }
        return input
    }
}
