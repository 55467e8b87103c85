package import HTTPServer
internal import Attribution

/// Requests that say themselves that no person waits for their answer.
package enum AutomaticVisit {
    /// Whether a request asks for a head alone, as link checkers do, or says that it fetches ahead.
    package static func isAnnounced(by request: Request) -> Bool {
        request.method == .head
            || Prefetching.fieldNames.contains { name in
                request.withFieldBytes(name) { Prefetching.isAnnounced(by: $0) } ?? false
            }
    }
}
