internal import Attribution

/// A list of the dashboard whose file has all rows that the page's filters choose, however many pages they fill.
enum WholeList: String {
    case launches
    case links
    /// The deliveries to the endpoint that the address names.
    case deliveries
    case audit

    /// Returns the body of the list's file, with the newest row first.
    func body(in format: PanelFile.Format, _ exchange: inout Exchange, _ visit: DashboardVisit)
        async throws(APIError) -> PagedBody
    {
        try exchange.requireChunks()
        let stores = exchange.stores
        switch self {
        case .launches:
            var query = try LaunchesPage.query(exchange, DashboardFilter(exchange))
            query.limit = CheckQuery.limits.upperBound
            return body(in: format, ExportTable.checks.columns, exchange, of: visit) { (before: CheckID?) in
                query.before = before
                let page = try await stores.checks.checks(query)
                return (page.records.map { $0.exportValues(of: .checks) }, page.next)
            }
        case .links: return try bodyOfLinks(in: format, exchange, visit)
        case .deliveries:
            let id = exchange.queryItem("endpoint").flatMap { EndpointID($0) }
            let endpoint = try await PostbackEndpoints.status(of: id, &exchange).endpoint
            var query = try PostbackEndpoints.query(endpoint.id, exchange)
            query.limit = DeliveryQuery.limits.upperBound
            let columns = ExportTable.deliveries.columns
            return body(in: format, columns, exchange, of: visit) { (before: OutboxEventID?) in
                query.before = before
                let page = try await stores.postbacks.deliveries(query)
                return (page.deliveries.map { $0.exportValues(to: endpoint) }, page.next)
            }
        case .audit:
            var query = try AuditLogPage.query(exchange, limit: AuditQuery.limits.upperBound)
            return body(in: format, AuditBody.columns, exchange, of: visit) { (before: AuditID?) in
                query.before = before
                let page = try await stores.audit.audit(query)
                return (page.entries.map(AuditBody.values), page.next)
            }
        }
    }

    private func bodyOfLinks(in format: PanelFile.Format, _ exchange: Exchange, _ visit: DashboardVisit)
        throws(APIError) -> PagedBody
    {
        let (stores, now) = (exchange.stores, exchange.now)
        var query = try LinkEndpoints.query(exchange)
        query.limit = LinkQuery.standardLimit
        let events = EventQuery(StatisticsQuery(app: query.app))
        // The last three columns are on the page, but not in the exported table.
        let columns = ExportTable.links.columns + ["ending", "events", "verified_revenue"]
        return body(in: format, columns, exchange, of: visit) { (before: LinkID?) in
            query.before = before
            let page = try await stores.links.links(query)
            let groups = EventGroups.links(page.links.map(\.link.id.text))
            let sums = try await stores.events.eventSums(of: groups, events)
            let rows = page.links.map { listing in
                let ending = listing.link.ending(at: now, clicks: listing.clicks)
                return listing.exportValues + [.text(ending?.rawValue)]
                    + Self.values(of: sums[listing.link.id.text])
            }
            return (rows, page.next)
        }
    }

    /// Returns a body with the rows of all pages; `page` returns the rows after a position, which is nil for the first
    /// page, and the position of the next page.
    ///
    /// A long list takes a while to send. If the session ends meanwhile, the file is cut off.
    private func body<Position>(
        in format: PanelFile.Format,
        _ columns: [String],
        _ exchange: Exchange,
        of visit: DashboardVisit,
        _ page: @escaping (Position?) async throws -> (rows: [[ExportValue]], next: Position?)
    ) -> PagedBody {
        let (stores, clock) = (exchange.stores, exchange.service.backgroundClock)
        let digest = visit.session.digest
        var position: Position?
        var hasEnded = false
        return format.body(columns) {
            guard !hasEnded else { return nil }
            guard let session = try await stores.sessions.session(digest),
                try session.isOpen(in: stores.apps.directory(), at: clock.now())
            else { throw APIError.forbidden(DashboardText.sessionEnded) }
            let (rows, next) = try await page(position)
            (position, hasEnded) = (next, next == nil)
            return rows
        }
    }

    /// Returns the number of a link's events, and their verified revenue by currency.
    private static func values(of sums: EventSums?) -> [ExportValue] {
        let sums = sums ?? EventSums()
        let revenue = DashboardText.totals(sums)
        return [.integer(sums.eventCount), revenue == "–" ? .none : .text(revenue)]
    }
}

extension AuditBody {
    /// The names of the columns of a file.
    static let columns = [
        "id", "at", "actor_kind", "actor", "action", "app", "subject_kind", "subject", "before", "after",
    ]

    /// Returns the values of an entry in the order of ``columns``; the fields before and after are JSON objects.
    static func values(of entry: AuditEntry) -> [ExportValue] {
        [
            .text(entry.id.text), .time(entry.at), .text(entry.actor.kind), .text(entry.actor.name),
            .text(entry.action), .text(entry.app?.text), .text(entry.subjectKind), .text(entry.subject),
            .text(entry.before), .text(entry.after),
        ]
    }
}
