public import Attribution

extension Directory {
    /// Warnings about settings that an operator should change before strangers can reach the service.
    ///
    /// The service logs them at the start and lists them in the statistics.
    public func warnings(at now: Timestamp) -> [String] {
        let destinations = openDestinations
        guard !keys.contains(where: { $0.kind == .admin && $0.isValid(at: now) }) else { return destinations }
        return destinations + [
            "there is no valid admin key, so /admin cannot be called; create one with"
                + " `afterlink keys create --kind admin`"
        ]
    }

    /// One warning for all apps that allow any destination.
    private var openDestinations: [String] {
        let open = apps.filter(\.settings.destinations.isEmpty)
        guard let first = open.first else { return [] }
        let danger = "any destination: a stranger can plant a link in another person's first launch"
        guard open.count > 1 else {
            return [
                "the app \"\(first.settings.name)\" allows \(danger); set them with"
                    + " `afterlink apps set --app \(first.id.text) --destination …`"
            ]
        }
        let names = open.prefix(Self.namedApps).map { "\"\($0.settings.name)\"" }.joined(separator: ", ")
        let more = open.count > Self.namedApps ? " and \(open.count - Self.namedApps) more" : ""
        return [
            "\(open.count) apps allow \(danger): \(names)\(more); set them with"
                + " `afterlink apps set --app … --destination …` for each"
        ]
    }

    private static let namedApps = 10
}

extension PostbackEndpoint {
    /// A warning about an endpoint that gets nothing although no operator has disabled it; nil for any other endpoint.
    public var warning: String? {
        guard state != .enabled, !isDisabledByOperator else { return nil }
        return "the postback endpoint \(id.text) is \(state.rawValue): \(reason); enable it with"
            + " `afterlink postbacks enable \(id.text)`"
    }
}

/// Figures of an app's traffic, from which warnings about its matching policy are derived.
public struct PolicyFigures: Equatable, Sendable {
    /// The number of the app's checks of live traffic; nil if the report covers only a part of them, or several apps.
    public var checks: Int64?
    /// The number of matches by token, click id or advertising id, which are certain; nil if ``checks`` is nil.
    public var certainMatches: Int64?
    public var collisions: CollisionReport?

    public init(checks: Int64? = nil, certainMatches: Int64? = nil, collisions: CollisionReport? = nil) {
        self.checks = checks
        self.certainMatches = certainMatches
        self.collisions = collisions
    }

    /// If there are fewer checks or matches than this, no warning is derived from them.
    fileprivate static let minimumChecks = 100
    /// If a larger share of the matches is expected to be wrong, there is a warning.
    fileprivate static let maximumFalseShare = 0.10
}

extension Directory {
    /// Warnings about matching settings that an operator may not have intended, one sentence for each app and setting.
    public func policyWarnings(_ figures: [AppID: PolicyFigures] = [:]) -> [String] {
        apps.flatMap { PolicyWarnings(app: $0, figures: figures[$0.id] ?? PolicyFigures()).texts }
    }
}

private struct PolicyWarnings {
    let app: App
    let figures: PolicyFigures

    private var policy: MatchPolicy { app.settings.policy }
    private var name: String { "the app \"\(app.settings.name)\"" }
    private var command: String { "`afterlink apps set --app \(app.id.text)" }

    var texts: [String] {
        guard policy.usesFingerprints else { return [withoutAnything].compactMap(\.self) }
        return [withoutDefaultLink, unusualConfidence, withoutEffect, mostlyWrong].compactMap(\.self)
    }

    private var withoutAnything: String? {
        guard let checks = figures.checks, checks >= PolicyFigures.minimumChecks, figures.certainMatches == 0
        else { return nil }
        return
            "no launch of \(name) is recognised: fingerprints are switched off, and of \(checks) checks none"
            + " brought a token, click id or advertising id that led to a click; add the clicks' tokens to the store"
            + " links, or switch fingerprints on with \(command) --fingerprinting on`"
    }

    private var withoutDefaultLink: String? {
        guard policy.onAmbiguity == .campaignOnly, app.settings.defaultLink == nil else { return nil }
        return
            "\(name) credits only the campaign if several people may have clicked, but it has no default link, so"
            + " such launches get no match; set one with \(command) --default-link …`"
    }

    private var unusualConfidence: String? {
        let minimum = policy.minimumConfidence
        guard policy.rule == .probability, minimum < 0.5 || minimum > 0.99 else { return nil }
        let effect =
            minimum < 0.5
            ? "\(name) accepts matches that are more likely wrong than right"
            : "hardly any fingerprint is as certain as \(name) requires"
        return "\(effect) (minimum confidence \(minimum)); set the standard value with"
            + " \(command) --minimum-confidence \(MatchPolicy.standardMinimum)`"
    }

    private var withoutEffect: String? {
        guard policy.rule == .newest else { return nil }
        var names: [String] = []
        if policy.minimumConfidence != MatchPolicy.standardMinimum { names.append("minimum confidence") }
        if policy.onAmbiguity != .noMatch { names.append("answer to ambiguity") }
        guard !names.isEmpty else { return nil }
        return
            "the \(names.joined(separator: " and ")) of \(name) \(names.count == 1 ? "has" : "have") no effect,"
            + " because the newest click matches, however improbable it is; change that with"
            + " \(command) --matching probability`"
    }

    private var mostlyWrong: String? {
        guard let report = figures.collisions, report.matches >= PolicyFigures.minimumChecks,
            let share = report.falseShare, share > PolicyFigures.maximumFalseShare
        else { return nil }
        let percent = Int((share * 100).rounded())
        let sentence =
            "of \(report.matches) matches of \(name) by fingerprint, \(percent) % are expected to be wrong"
        guard policy.rule == .probability else {
            return "\(sentence), because the newest click matches, however improbable it is; reduce them with"
                + " \(command) --matching probability`"
        }
        let limit = report.limits.last?.threshold.map { " --minimum-confidence \($0.minimum)`" }
        return limit.map { "\(sentence); reduce them with \(command)\($0)" }
            ?? "\(sentence); `afterlink collisions` shows the figures"
    }
}

extension StatisticsReport {
    /// Returns the apps' figures, with counts only if the report covers the whole live traffic of a single app.
    public func policyFigures(of query: StatisticsQuery) -> [AppID: PolicyFigures] {
        guard !query.isTest else { return [:] }
        var figures: [AppID: PolicyFigures] = [:]
        for app in collisions { figures[app.app] = PolicyFigures(collisions: app.report) }
        guard query.label == CounterLabel(.total), query.from == nil, query.to == nil, byApp.count == 1,
            let app = byApp.first.flatMap({ AppID($0.name) })
        else { return figures }
        let certain = AttributionMethod.allCases.filter { $0.confidence != nil }.map(\.rawValue)
        figures[app, default: PolicyFigures()].checks = totals[.checks] ?? 0
        figures[app, default: PolicyFigures()].certainMatches = byMethod.filter { certain.contains($0.name) }
            .reduce(0) { $0 + ($1.counts[.matches] ?? 0) }
        return figures
    }
}
