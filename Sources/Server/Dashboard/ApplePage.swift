internal import Attribution

/// Apple's postbacks by network, source, window and decoded value, and the states of their signatures.
///
/// They are never added to matches: a postback does not name its device.
enum ApplePage {
    private static let newestCount = 50
    /// The maximum number of rows of the table by network: values and sources can make many thousands.
    private static let rowLimit = 100

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let filter = try DashboardFilter(exchange)
        let apps = AppleApps(exchange.directory)
        let store = exchange.stores.applePostbacks
        let (from, to) = (filter.span.from, filter.span.to)
        // Between two bounds, each conversion value keeps its meaning.
        let bounds = [from] + apps.changes.filter { $0 > from && $0 < to }.sorted() + [to]
        var (counts, states): ([[String]: Int64], [[String]: Int64]) = ([:], [:])
        for (start, end) in zip(bounds, bounds.dropFirst()) {
            for sum in try await exchange.store(await store.applePostbackSums(from: start, to: end)) {
                let app = apps.app(sum.postback.item)
                guard filter.app == nil || app?.id == filter.app?.id else { continue }
                states[state(sum), default: 0] += sum.count
                let isDevelopment = sum.environment == .development
                let isShown = filter.isTest ? isDevelopment : sum.environment.isCounted(for: app)
                guard sum.isCounted, isShown else { continue }
                let meaning = apps.meaning(of: sum.postback, at: start)
                counts[row(sum.postback, app, meaning), default: 0] += sum.count
            }
        }
        var query = ApplePostbackQuery(limit: newestCount)
        query.items = filter.app.map { Set($0.appleItems) }
        (query.from, query.to) = (from, to)
        let newest = try await exchange.store(await store.applePostbacks(query)).postbacks
        let rows: [Count] = counts.map { Count(texts: $0.key, count: $0.value) }.sorted(by: Count.isGreater)
        let shown: [Count] = states.map { Count(texts: $0.key, count: $0.value) }.sorted(by: Count.isGreater)
        // Live traffic includes development postbacks about the apps whose settings count them.
        let countsBoth = (filter.app.map { [$0] } ?? exchange.directory.apps)
            .contains { AppleEnvironment.development.isCounted(for: $0) }
        let environment: AppleEnvironment? = filter.isTest ? .development : countsBoth ? nil : .production
        return .page(title: DashboardText.apple) { html in
            filter.writeForm(to: &html)
            html.note(DashboardText.appleExplained)
            guard !newest.isEmpty else { return html.empty(DashboardText.noPostbacks) }
            let app: PanelExports.Items = [("app", filter.app?.id.text)]
            let span: PanelExports.Items = [("from", from.iso8601), ("to", to.iso8601)]
            func exports(_ environment: AppleEnvironment? = nil) -> PanelExports {
                let items: PanelExports.Items = app + span + [("environment", environment?.rawValue)]
                let command = ["apple-postbacks", "list"]
                return .rows.calling("/admin/api/apple-postbacks", command: command, items)
            }
            let most = Array(rows.prefix(rowLimit))
            html.table(DashboardText.byNetwork, most, write)
            if rows.count > most.count { html.note(DashboardText.shown(1, most.count, of: rows.count)) }
            // The other tables have both environments.
            html.exports(exports(environment), of: DashboardText.byNetwork.caption)
            html.table(DashboardText.signatures, shown, exports: exports(), write)
            write(newest, apps, exports(), to: &html)
        }
    }

    /// How many postbacks have the same texts.
    private struct Count {
        let texts: [String]
        let count: Int64

        static func isGreater(_ left: Count, _ right: Count) -> Bool {
            left.count == right.count
                ? left.texts.lexicographicallyPrecedes(right.texts) : left.count > right.count
        }
    }

    private static func write(_ html: inout HTML, _ row: Count) {
        html.rowName(row.texts.first ?? "")
        for text in row.texts.dropFirst() { html.cells(text) }
        html.counts(row.count)
    }

    private static func write(
        _ postbacks: [StoredApplePostback],
        _ apps: AppleApps,
        _ exports: PanelExports,
        to html: inout HTML
    ) {
        html.table(DashboardText.newestPostbacks, postbacks, exports: exports) { html, stored in
            let postback = stored.postback
            html.rowName(DashboardText.time(stored.receivedAt))
            html.cells(postback.network, apps.app(postback.item)?.settings.name ?? postback.item)
            let meaning = apps.meaning(of: postback, at: stored.receivedAt)
            let value = DashboardText.value(of: postback, meaning)
            html.cells(postback.source, DashboardText.window(of: postback), value, postback.country)
            let state = DashboardText.state(stored.verification, isCounted: stored.isCounted)
            html.cell(state, class: stored.verification == .valid ? "good" : "bad")
            html.cells(stored.environment.rawValue)
        }
    }

    /// Returns the texts of a row of the table by network.
    private static func row(_ postback: ApplePostback, _ app: App?, _ meaning: String?) -> [String] {
        [
            postback.network, DashboardText.name(of: postback.framework),
            app?.settings.name ?? postback.item, postback.source ?? "–",
            DashboardText.window(of: postback), DashboardText.value(of: postback, meaning),
        ]
    }

    /// Returns the texts of a row of the table of signatures.
    private static func state(_ sum: ApplePostbackSum) -> [String] {
        [
            DashboardText.name(of: sum.postback.framework), sum.environment.rawValue,
            DashboardText.state(sum.verification, isCounted: sum.isCounted),
        ]
    }
}
