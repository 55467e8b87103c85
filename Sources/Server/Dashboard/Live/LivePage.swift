internal import Attribution
internal import HTTPServer
internal import JSON

/// The traffic of the last half hour; the script adds new rows, and without it a person reloads the page.
enum LivePage {
    /// The number of rows that the page lists.
    static let rowCount = 50

    /// The choices of a page and of its stream.
    struct Choice: Sendable {
        let app: App?
        let isTest: Bool

        init(_ exchange: Exchange) throws(APIError) {
            (app, isTest) = (try exchange.appItem(), try exchange.testItem())
        }

        func contains(_ group: LiveFeed.Group) -> Bool {
            group.isTest == isTest && (app == nil || app?.id.text == group.app)
        }
    }

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let (choice, newest, minutes) = try await read(exchange)
        let (events, now) = (newest.reversed(), exchange.now)
        return .page(title: DashboardText.liveTraffic) { html in
            html.filters("/live") { html in
                html.keepChoices(except: ["app", "test"])
                html.appChoice(chosen: choice.app?.id)
                html.trafficChoice(isTest: choice.isTest)
            }
            writeChart(minutes, to: &html)
            html.exports(exports(choice, at: now), of: DashboardText.perMinute)
            html.element("p", ["class": "note", "id": "live-note"], DashboardText.liveNote)
            html.next(html.address, DashboardText.reload)
            let ended: HTML.Attributes = [
                "id": "live-ended", "class": "answer bad", "role": "alert", "hidden": "",
            ]
            html.element("p", ended) { html in
                html.text(DashboardText.sessionEnded + " ")
                html.link(DashboardAddress("/sign-in").with("next", html.address.text), DashboardText.signIn)
            }
            if events.isEmpty {
                html.element("p", ["class": "empty", "id": "live-none"], DashboardText.noneLive)
            }
            // The script adds the query to the links of its rows.
            let (full, query) = (DashboardText.tooManyStreams, html.address.page("").text)
            html.open("div", ["id": "live", "data-full": full, "data-query": query])
            html.table(DashboardText.newest, events) { html, event in
                html.rowName(DashboardText.time(event.at), html.address.page("/launches/\(event.id)"))
                html.cell(event.text, class: event.isMatch ? "good" : nil)
                html.cells(event.campaign, name(of: event.group, html.directory))
            }
            html.close("div")
            if !events.isEmpty { html.exports(exports(choice, at: now), of: DashboardText.newest.caption) }
        }
    }

    /// Reads the newest rows, oldest first, and the counts of each minute.
    private static func read(_ exchange: Exchange) async throws(APIError)
        -> (choice: Choice, events: ArraySlice<LiveFeed.Event>, minutes: [LiveFeed.Counts])
    {
        let choice = try Choice(exchange)
        let (feed, now) = (exchange.service.liveFeed, exchange.now)
        try await exchange.store(await feed.catchUp(exchange.stores.exports, at: now))
        let events = feed.events(after: 0, choice.contains).events.suffix(rowCount)
        return (choice, events, feed.minutes(at: now, choice.contains))
    }

    /// Returns the exports of the page's rows, as lines to copy.
    ///
    /// Only a session can open the stream, so the lines that use a key read the tables.
    private static func exports(_ choice: Choice, at now: Timestamp) -> PanelExports {
        let start = now.milliseconds / 60_000 * 60_000 - (LiveFeed.minuteCount - 1) * 60_000
        let app = choice.app?.id.text
        let lines = [ExportTable.clicks, .checks].map { table in
            var call = DashboardAddress("/admin/api/export/\(table.rawValue).ndjson").with("app", app)
            call["since"] = ExportCursor.row(start << 16).text
            // The tables have live and test traffic.
            return PanelExports.curl(call) + " | grep '\"test\":\(choice.isTest)'"
        }
        let from = Timestamp(milliseconds: start).iso8601
        let items: PanelExports.Items = [
            ("app", app), ("from", from), ("test", choice.isTest ? "true" : nil),
        ]
        return PanelExports.rows.adding(DashboardText.liveCurl, lines.joined(separator: "\n"))
            .running(["checks"], items, as: DashboardText.liveCommand)
    }

    private static func name(of group: LiveFeed.Group, _ directory: Directory) -> String {
        AppID(group.app).flatMap(directory.app)?.settings.name ?? group.app
    }

    /// Writes three columns a minute: clicks, launches and matches.
    private static func writeChart(_ minutes: [LiveFeed.Counts], to html: inout HTML) {
        let names = [DashboardText.clicks, DashboardText.launches, DashboardText.matches]
        var figures = ChartFigures(
            title: DashboardText.perMinute,
            labels: minutes.indices.map { DashboardText.minutesAgo(minutes.count - 1 - $0) },
            series: names.enumerated().map { index, name in
                ChartFigures.Series(name: name, values: minutes.map { $0.all[index] })
            }
        )
        (figures.id, figures.scale) = ("live-chart", DashboardText.minute)
        ColumnChart(figures: figures, isStacked: false).write(to: &html)
    }

    /// Returns the value at the upper edge of the chart.
    private static func top(of minutes: [LiveFeed.Counts]) -> Int64 {
        LineChart.roundedUp(max(minutes.flatMap(\.all).max() ?? 0, 1))
    }

    /// `GET /live/now`: the message of the stream with the newest rows, for pages that poll.
    static func now(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let (_, events, minutes) = try await read(exchange)
        let json = message(events, minutes, exchange.directory)
        return .response(Response(.ok, fields: DashboardPage.fields, contentType: .json, body: json.bytes))
    }

    /// `GET /live/stream`: messages with new rows, as server-sent events.
    static func stream(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let choice = try Choice(exchange)
        guard exchange.service.liveFeed.openStream() else {
            throw APIError(
                status: .serviceUnavailable,
                code: .unavailable,
                message: DashboardText.tooManyStreams,
                retryAfter: 5
            )
        }
        var response = Response(
            .ok,
            fields: DashboardPage.fields,
            contentType: ContentType("text/event-stream; charset=utf-8")
        )
        response.stream = LiveStream(exchange.service, exchange.stores, choice, of: visit.session)
        return .response(response)
    }

    /// Returns the rows, oldest first, and the counts of each minute.
    static func message(
        _ events: some Sequence<LiveFeed.Event>,
        _ minutes: [LiveFeed.Counts],
        _ directory: Directory
    ) -> JSONWriter {
        JSONWriter.object { json in
            json.objects("rows", Array(events)) { json, event in
                json.member("id", event.id)
                json.member("time", DashboardText.time(event.at))
                json.member("what", event.text)
                json.member("match", event.isMatch)
                json.member("campaign", event.campaign ?? "–")
                json.member("app", name(of: event.group, directory))
            }
            json.name("minutes")
            json.array { json in for count in minutes.flatMap(\.all) { json.value(count) } }
            json.name("scale")
            json.array { json in
                for value in ChartFigures.scale(upTo: top(of: minutes)) { json.value(value) }
            }
        }
    }
}

/// The stream of one live page, which asks the shared feed at each of its ticks.
final class LiveStream: ResponseStream {
    private let service: Service
    private let stores: Stores
    private let choice: LivePage.Choice
    private let session: DashboardSession
    private let openedAt: Timestamp
    /// When this stream last recorded the use of its session; opening the stream counts as a use.
    private var usedAt: Timestamp
    private var last: Int?
    private var minutes: [LiveFeed.Counts] = []
    private var quietSeconds = 0
    private var isInterrupted = false
    /// Whether the stream has reported to its page that the session has ended.
    private var hasEnded = false

    /// The time between two records of the use of a session: 5 minutes in milliseconds.
    private static let useMilliseconds: Int64 = 300_000

    init(_ service: Service, _ stores: Stores, _ choice: LivePage.Choice, of session: DashboardSession) {
        (self.service, self.stores, self.choice, self.session) = (service, stores, choice, session)
        let now = service.clock.now()
        (openedAt, usedAt) = (now, now)
    }

    func next(atMost count: Int) async throws -> [UInt8]? {
        let feed = service.liveFeed
        while !isInterrupted, !hasEnded, !service.isStopping {
            let now = try await nextTick()
            guard try isSignedIn(at: now) else {
                hasEnded = true
                return Array("event: ended\ndata:\n\n".utf8)
            }
            await noteUse(at: now)
            // The first message repeats rows of the page, which the script knows by their ids.
            let isFirst = last == nil
            let (events, newest) = feed.events(after: last ?? 0, choice.contains)
            let latest = feed.minutes(at: now, choice.contains)
            last = newest
            quietSeconds += 1
            if isFirst || !events.isEmpty || latest != minutes {
                (minutes, quietSeconds) = (latest, 0)
                let json = LivePage.message(
                    events.suffix(LivePage.rowCount),
                    latest,
                    try stores.apps.directory()
                )
                return Array("data: ".utf8) + json.bytes + Array("\n\n".utf8)
            }
            if quietSeconds >= 15 {
                quietSeconds = 0
                return Array(":\n\n".utf8)
            }
        }
        return nil
    }

    /// Waits for the next tick, at which one stream reads for all; before the first message, reads at once.
    private func nextTick() async throws -> Timestamp {
        let feed = service.liveFeed
        let (isFirst, reads) = (last == nil, last == nil ? true : await feed.tick())
        defer { if reads, !isFirst { feed.endTick() } }
        let now = service.clock.now()
        if reads { try await feed.catchUp(stores.exports, at: now) }
        // The request has just read the session of a new stream.
        if reads, !isFirst { try await feed.readSessions(stores.sessions, at: now) }
        return now
    }

    /// Records every few minutes that the session is in use: a browser on a wall screen sends no other request.
    private func noteUse(at now: Timestamp) async {
        guard now.milliseconds(since: usedAt) >= Self.useMilliseconds else { return }
        usedAt = now
        // After a failed write the stream goes on: the next write is due long before the session ends.
        try? await stores.sessions.noteUse(of: session.digest, at: now)
    }

    /// Returns whether the session has not ended, and its key is valid if a key started it.
    private func isSignedIn(at now: Timestamp) throws -> Bool {
        if let key = session.key {
            guard try stores.apps.directory().keys.first(where: { $0.id == key })?.isValid(at: now) == true
            else { return false }
        }
        return !service.liveFeed.hasEnded(session.digest, openedAt: openedAt)
    }

    func interrupt() { isInterrupted = true }
    func end() { service.liveFeed.closeStream() }
}
