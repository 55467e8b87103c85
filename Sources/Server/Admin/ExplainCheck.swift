public import Attribution
internal import HTTPServer
public import JSON

/// `GET /admin/api/checks/{id}/explain`: explains a check, or the state of a click without a match.
///
/// `{id}` is the id of a check, of a check's request, or of a click.
enum ExplainCheck {
    /// The record that an id identifies.
    enum Found {
        case check(Explanation)
        /// A click that no recorded check got.
        case click(ClickExplanation)
    }

    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        switch try await find(exchange) {
        case .check(let explanation): return Response(.ok, json: explanation.json())
        case .click(let explanation): return Response(.ok, json: explanation.json())
        case nil:
            throw .notFound(
                "No check is recorded under this id. Records are deleted after the retention time;"
                    + " GET /admin/api/checks lists the stored ones",
                field: "id"
            )
        }
    }

    /// Finds the record that the id in the path identifies; nil if no such record is stored, or the request may not
    /// see it.
    ///
    /// - Throws: 400 for a text that is not an id.
    static func find(_ exchange: Exchange) async throws(APIError) -> Found? {
        let keys = exchange.keys.server.all
        // A fingerprint is refused, because proxies log paths.
        guard let text = exchange.parameter.map(QueryItem.text(ofPathPart:)), Fingerprint(hex: text) == nil,
            let reference = CheckReference(text, keys: keys)
        else {
            let rule = "must be the id of a check (chk_…), of a request, or of a click (clk_…)"
            throw .invalidField("id", rule)
        }
        let devices = exchange.service.settings.devices
        let explainer = Explainer(keys: keys, directory: exchange.directory, data: devices)
        let checks = exchange.stores.checks
        let explanation = try await exchange.store(await checks.explanation(of: reference, by: explainer))
        if let explanation { return exchange.maySee(explanation.record.app) ? .check(explanation) : nil }
        guard case .click(let id) = reference,
            let click = try await exchange.store(await checks.material(ofClick: id)),
            exchange.maySee(click.app)
        else { return nil }
        return .click(ClickExplanation(click, in: exchange.directory, at: exchange.now))
    }
}

extension ClickExplanation {
    /// Creates the explanation with the settings of the click's app.
    public init(_ material: ClickExplanationInput, in directory: Directory, at now: Timestamp) {
        let policy = directory.policy(of: material.app) ?? MatchPolicy()
        let uses = policy.usesFingerprints
        self.init(material, usesFingerprints: uses, at: now, windows: policy.windows)
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
        windows = Dictionary(directory.apps.map { ($0.id, $0.settings.policy.windows) }) { first, _ in first }
    }
}

extension Explanation {
    /// Returns the explanation as JSON, for the endpoint and `afterlink explain --json`.
    public func json() -> JSONWriter {
        .object { json in
            json.member("summary", summary)
            json.member("advice", advice)
            json.object("check", record.writeMembers)
            json.member("tried_combinations", triedCombinations)
            json.member("launch", writeLaunch)
            json.objects("clicks", clicks) { write($1, to: &$0) }
        }
    }

    /// Writes the components of the launch's fingerprint; null where they are unknown.
    private func writeLaunch(to json: inout JSONWriter) {
        guard let launch else { return json.null() }
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
        let (click, facts) = (explained.click, record.facts)
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
        if let ids = click.clickIDs { json.member("click_ids") { $0.raw(ids.utf8) } }
        json.objects("differences", explained.differences) { json, difference in
            json.member("component", difference.component.rawValue)
            json.member("click", difference.click)
            json.member("launch", difference.launch)
        }
    }
}

extension ClickExplanation {
    /// Returns the explanation as JSON, for the endpoint and `afterlink explain --json`.
    public func json() -> JSONWriter {
        .object { json in
            json.member("summary", summary)
            json.member("advice", advice)
            json.object("click", writeClick)
            json.member("searched_checks", material.searchedChecks)
            json.objects("checks", material.near) { json, near in
                json.member("relation", near.relation.rawValue)
                json.object("check", near.record.writeMembers)
            }
        }
    }

    private func writeClick(to json: inout JSONWriter) {
        json.member("click_id", click.id.text)
        json.member("app", material.app.text)
        json.member("test", material.isTest)
        json.member("clicked_at", click.clickedAt.iso8601)
        json.member("expires_at", click.expiresAt.iso8601)
        json.member("campaign", click.campaign?.text)
        json.member("state", state.rawValue)
        json.member("platform", click.platform.rawValue)
        json.member("basis", click.basis?.rawValue)
        if click.isContradictory { json.member("contradictory", true) }
        json.member("keys", material.keyCount)
        json.member("indexed", material.isIndexed)
        json.member("fingerprinting", usesFingerprints)
        json.member("claimed_at", click.claimedAt?.iso8601)
        json.member("claimed_by", click.claimedBy?.rawValue)
        if let ids = click.clickIDs { json.member("click_ids") { $0.raw(ids.utf8) } }
    }
}
