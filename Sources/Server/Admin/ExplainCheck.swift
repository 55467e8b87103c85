public import Attribution
internal import HTTPServer
public import JSON

/// `GET /admin/api/checks/{id}/explain`: explains a check by its own id, or by that of its request or of a click; for
/// a click that no check found, explains what became of it.
enum ExplainCheck {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let keys = context.keys.server.all
        // Proxies would log a fingerprint in a path.
        guard let text = exchange.parameter.map(QueryItem.text(ofPathPart:)), Fingerprint(hex: text) == nil,
            let reference = CheckReference(text, keys: keys)
        else {
            throw .invalidField(
                "id",
                "must be the id of a check (chk_…), of a request, or of a click (clk_…)"
            )
        }
        let devices = context.service.settings.devices
        let explainer = Explainer(keys: keys, directory: exchange.directory, data: devices)
        let explanation = try await exchange.store(
            await context.stores.checks.explanation(of: reference, by: explainer)
        )
        guard let explanation else {
            if case .click(let id) = reference, let click = try await explained(id, exchange, context) {
                return Response(.ok, json: ClickExplanationBody(click).json())
            }
            throw .notFound(
                "No check is recorded under this id. Records are kept as long as clicks are after their window;"
                    + " GET /admin/api/checks lists them",
                field: "id"
            )
        }
        return Response(.ok, json: ExplanationBody(explanation).json())
    }

    private static func explained(
        _ click: ClickID,
        _ exchange: Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> ClickExplanation? {
        try await exchange.store(await context.stores.checks.material(ofClick: click))
            .map { ClickExplanation($0, in: exchange.directory, at: exchange.now) }
    }
}

extension ClickExplanation {
    /// Creates the explanation with the settings of the click's app.
    public init(_ material: ClickExplanationInput, in directory: Directory, at now: Timestamp) {
        let policy = directory.policy(of: material.app) ?? MatchPolicy()
        self.init(material, usesFingerprints: policy.usesFingerprints, at: now)
    }
}

extension Explainer {
    /// Creates an explainer with the settings of a directory's apps.
    public init(keys: [ServerKey], directory: Directory, data: DeviceData) {
        let localizations = directory.apps.map { ($0.id, $0.settings.localization(data.languages)) }
        self.init(
            keys: keys,
            data: data,
            localizations: Dictionary(localizations) { first, _ in first },
            signals: { CanonicalSignals(line: $0) }
        )
    }
}

/// The JSON form of an explanation, shared by the endpoint and `afterlink explain --json`.
public struct ExplanationBody {
    private let explanation: Explanation

    public init(_ explanation: Explanation) { self.explanation = explanation }

    public func json() -> JSONWriter {
        var json = JSONWriter()
        json.object { json in
            json.member("summary", explanation.summary)
            json.member("advice", explanation.advice)
            json.member("check", CheckBody(explanation.record).write)
            json.member("tried_combinations", explanation.triedCombinations)
            json.member("launch", writeLaunch)
            json.objects("clicks", explanation.clicks) { write($1, to: &$0) }
        }
        return json
    }

    /// Writes what the fingerprint was made of; null where that is not known.
    private func writeLaunch(to json: inout JSONWriter) {
        guard let launch = explanation.launch else { return json.null() }
        json.object { json in
            json.member("form", launch.form.rawValue)
            json.object("components") { json in
                for (component, value) in zip(launch.form.components, launch.values) {
                    json.member(component.rawValue, value)
                }
            }
        }
    }

    private func write(_ explained: ExplainedClick, to json: inout JSONWriter) {
        let (click, facts) = (explained.click, explanation.record.facts)
        json.member("click_id", click.id.text)
        json.member("clicked_at", click.clickedAt.iso8601)
        json.member("expires_at", click.expiresAt.iso8601)
        json.member("campaign", click.campaign?.text)
        json.member("state", explained.state.rawValue)
        json.member("same_fingerprint", explained.hasSameFingerprint)
        json.member("address", click.agreement.word)
        json.member("screen", explained.hasSameScreen.map { $0 ? "same" : "other" })
        json.member("share", explained.share)
        if explained.state == .expired {
            json.member("expired_for_seconds", facts.at.milliseconds(since: click.expiresAt) / 1000)
        }
        json.member("claimed_at", click.claimedAt?.iso8601)
        json.member("claimed_by", click.claimedBy?.rawValue)
        json.objects("differences", explained.differences) { json, difference in
            json.member("component", difference.component.rawValue)
            json.member("click", difference.click)
            json.member("launch", difference.launch)
        }
    }
}

/// The JSON form of a click's explanation, shared by the endpoint and `afterlink explain --json`.
public struct ClickExplanationBody {
    private let explanation: ClickExplanation

    public init(_ explanation: ClickExplanation) { self.explanation = explanation }

    public func json() -> JSONWriter {
        var json = JSONWriter()
        json.object { json in
            json.member("summary", explanation.summary)
            json.member("advice", explanation.advice)
            json.object("click", writeClick)
            json.member("searched_checks", explanation.material.searchedChecks)
            json.objects("checks", explanation.material.near) { json, near in
                json.member("relation", near.relation.rawValue)
                json.member("check", CheckBody(near.record).write)
            }
        }
        return json
    }

    private func writeClick(to json: inout JSONWriter) {
        let (click, material) = (explanation.click, explanation.material)
        json.member("click_id", click.id.text)
        json.member("app", material.app.text)
        json.member("test", material.isTest)
        json.member("clicked_at", click.clickedAt.iso8601)
        json.member("expires_at", click.expiresAt.iso8601)
        json.member("campaign", click.campaign?.text)
        json.member("state", explanation.state.rawValue)
        json.member("platform", click.platform.rawValue)
        json.member("basis", click.basis?.rawValue)
        json.member("keys", material.keyCount)
        json.member("indexed", material.isIndexed)
        json.member("fingerprinting", explanation.usesFingerprints)
        json.member("claimed_at", click.claimedAt?.iso8601)
        json.member("claimed_by", click.claimedBy?.rawValue)
    }
}
