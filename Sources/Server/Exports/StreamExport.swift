internal import Attribution
internal import HTTPServer

/// `GET /admin/api/export/{file}`: a table as CSV or NDJSON, streamed to its end.
///
/// If the key is revoked or expires meanwhile, the stream is cut off.
enum StreamExport {
    static let items = ["app", "since", "until"]

    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        try exchange.requireChunks()
        let parts = (exchange.parameter ?? "").split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let table = ExportTable(rawValue: parts[0]),
            let format = ExportFormat(rawValue: parts[1])
        else {
            let tables = ExportTable.allCases.map(\.rawValue).joined(separator: ", ")
            throw .notFound("There is no such export; ask for one of \(tables), followed by .csv or .ndjson")
        }
        var since: ExportCursor?
        if let text = exchange.sentQueryItem("since") {
            since = ExportCursor(text, of: table)
            guard since != nil else {
                throw .invalidField("since", "must be the cursor of a row of this table")
            }
        }
        let until = try exchange.timeItem("until")
        let app = try exchange.appItem()?.id
        let (stores, clock, key) = (exchange.stores, exchange.service.backgroundClock, exchange.key?.id)
        var end = try await exchange.store(await stores.exports.end(of: table, at: exchange.now))
        if let until { end = table.end(end, before: until) }
        var first = ExportQuery(table, end: end)
        (first.app, first.since) = (app, since)
        var query: ExportQuery? = first
        let body = PagedBody(startingWith: format.start(table.columnsWithCursor)) {
            guard let wanted = query else { return nil }
            // An export may take hours, and ends when its key is revoked or expires.
            guard let key, try stores.apps.directory().key(key)?.isValid(at: clock.now()) == true else {
                throw APIError.invalidAPIKey
            }
            let page = try await stores.exports.export(wanted)
            query?.since = page.next
            if page.next == nil { query = nil }
            return page.rows.map { format.line($0, of: table) }.joined()
        }
        return Response(body, format.contentType, named: parts.joined(separator: "."))
    }
}

extension Exchange {
    /// - Throws: 505 for HTTP/1.0, where only the end of the connection ends a stream: a client may take a cut stream
    ///   for a whole one.
    func requireChunks() throws(APIError) {
        guard request.version != .http11 else { return }
        let advice = "An export needs HTTP/1.1; in nginx, set proxy_http_version 1.1"
        throw APIError(status: .versionNotSupported, code: .versionNotSupported, message: advice)
    }
}
