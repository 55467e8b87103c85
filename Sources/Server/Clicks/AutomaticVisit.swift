package import HTTPServer
internal import Attribution

/// Requests that announce that no person waits for their response.
package enum AutomaticVisit {
    /// Whether a request is for a head alone, as link checkers send, or announces a prefetch.
    package static func isAnnounced(by request: Request) -> Bool {
        request.method == .head
            || Prefetching.fieldNames.contains { name in
                request.withFieldBytes(name) { Prefetching.isAnnounced(by: $0) } ?? false
            }
    }
}
