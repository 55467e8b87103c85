public import Attribution
internal import HTTPServer
public import JSON

/// `GET /admin/api/checks`: lists the recorded checks, newest first.
enum ListChecks {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let query = try self.query(exchange, exchange.keys)
        let page = try await exchange.store(await exchange.stores.checks.checks(query))
        return Response(.ok) { CheckListBody.write(page, to: &$0) }
    }

    private static func query(_ exchange: Exchange, _ keys: Keyring) throws(APIError) -> CheckQuery {
        var query = CheckQuery(
            isTest: try exchange.testItem(),
            limit: try exchange.limitItem(CheckQuery.limits, standard: CheckQuery.standardLimit)
        )
        query.app = try exchange.appItem()?.id
        query.campaign = try exchange.campaignItem()
        (query.from, query.to) = try exchange.rangeItems()
        query.outcome = try exchange.word("outcome")
        query.reason = try exchange.word("reason")
        try exchange.readDevice(into: &query)
        if let text = exchange.queryItem("fingerprint") {
            guard let fingerprint = Fingerprint(hex: text) else { throw .invalidFingerprint }
            query.fingerprints = keys.keyed(fingerprint)
        }
        query.before = try exchange.pageItem("chk_…") { CheckID($0) }
        return query
    }
}

extension Exchange {
    /// Reads the query items about how a launch was recognised and about its device.
    func readDevice(into query: inout CheckQuery) throws(APIError) {
        query.method = try word("method")
        query.platform = try word("platform")
        (query.osVersion, query.sdk) = (sentQueryItem("os_version"), sentQueryItem("sdk"))
    }
}

/// The body of a list of checks.
public enum CheckListBody {
    /// Writes the members: `checks`, and `next` for the next page.
    public static func write(_ page: CheckPage, to json: inout JSONWriter) {
        json.objects("checks", page.records) { $1.writeMembers(to: &$0) }
        json.member("next", orNull: page.next?.text)
    }
}

extension RecordedCheck {
    func writeMembers(to json: inout JSONWriter) {
        json.member("id", id.text)
        json.member("at", facts.at.iso8601)
        json.member("app", app.text)
        json.member("test", isTest)
        json.member("outcome", facts.outcome.rawValue)
        json.member("reason", facts.outcome == .match ? "matched" : facts.reason?.rawValue)
        json.member("method", facts.method?.rawValue)
        json.member("confidence", facts.confidence)
        json.member("minimum_confidence", facts.minimumConfidence)
        json.member("organic_share", facts.organicShare)
        json.member("candidates", facts.candidates)
        json.member("campaign_only", facts.isCampaignOnly)
        json.member("form", facts.platformForm?.form?.rawValue)
        json.member("click_id", clickID)
        json.member("campaign", campaign?.text)
        json.member("address", facts.agreement?.word)
        json.member("platform", facts.platform.rawValue)
        json.member("os_release", facts.release?.text)
        json.member("sdk_version", facts.sdkVersion)
        json.member("request_id", facts.requestID)
        json.member("names_click", facts.namesClick)
        json.member("has_install_id", facts.hasInstallID)
        json.member("first_install_time", facts.firstInstalledAt?.iso8601)
        if let play = facts.play { json.object("play") { write(play, to: &$0) } }
    }

    private func write(_ play: PlayInstall, to json: inout JSONWriter) {
        json.member("finding", facts.playFinding?.rawValue)
        json.member("store_click_at", play.at(.storeClick)?.iso8601)
        json.member("install_began_at", play.at(.installBegin)?.iso8601)
        json.member("device_store_click_at", play.at(.storeClickOnDevice)?.iso8601)
        json.member("device_install_began_at", play.at(.installBeginOnDevice)?.iso8601)
        json.member("install_version", play.version)
        json.member("instant", play.isInstant)
    }
}
