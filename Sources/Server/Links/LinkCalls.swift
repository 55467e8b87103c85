internal import Attribution
internal import HTTPServer
internal import JSON

/// Reading and changing a link, for the admin API's calls.
extension LoopContext {
    /// Reads the link whose id is in the path.
    ///
    /// - Throws: 404 where there is none.
    func link(of exchange: Exchange) async throws(APIError) -> LinkListing {
        guard let id = exchange.parameter.flatMap({ LinkID($0) }) else { throw .noLink }
        guard let listing = try await exchange.store(await stores.links.link(id)) else { throw .noLink }
        return listing
    }

    /// Changes the link whose id is in the path, and retries if another request changed it meanwhile.
    func changeLink(
        of exchange: Exchange,
        _ change: (inout Link) throws(APIError) -> Void
    ) async throws(APIError) -> Response {
        for _ in 0..<4 {
            var link = try await link(of: exchange).link
            let earlier = link.updatedAt
            try change(&link)
            link.updatedAt = exchange.now
            do throws(LinkStoreError) {
                try await stores.links.update(link, ifUpdatedAt: earlier)
            } catch {
                if error == .changed { continue }
                throw APIError(error, requestID: exchange.requestID)
            }
            return answer(try await self.link(of: exchange), .ok, exchange)
        }
        throw APIError(.changed, requestID: exchange.requestID)
    }

    func answer(_ listing: LinkListing, _ status: Status, _ exchange: Exchange) -> Response {
        var json = JSONWriter()
        LinkBody(listing, of: exchange.directory.app(listing.link.app), at: exchange.now).write(to: &json)
        return Response(status, json: json)
    }
}

extension APIError {
    static let noLink = APIError.notFound("There is no such link; GET /admin/api/links lists them")

    init(_ error: LinkStoreError, requestID: String) {
        switch error {
        case .slugTaken: self = .conflict(error.advice ?? "", field: "slug")
        case .notFound: self = .noLink
        case .changed, .clicked: self = .conflict(error.advice ?? "")
        case .store(let error): self.init(error, requestID: requestID)
        }
    }
}
