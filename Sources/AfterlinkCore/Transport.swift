#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A request to the server: always POST with a JSON body.
package struct ClientRequest: Sendable {
    package let url: URL
    package let headers: [String: String]
    package let body: Data
}

/// The response of the server, or of a device on the way to it.
package struct ClientResponse: Sendable {
    package let status: Int
    /// The value of `Retry-After`; if it is a date, the seconds until that date.
    package let retryAfter: String?
    package var body: Data

    /// Creates a response; a date in `retryAfter` counts from the header `Date`, because the device's clock may be wrong.
    package init(status: Int, retryAfter: String? = nil, date: String? = nil, body: Data = Data()) {
        let end = retryAfter.flatMap(EventTime.headerDate)
        let start = date.flatMap(EventTime.headerDate) ?? Date()
        self.retryAfter = end.map { "\($0.timeIntervalSince(start))" } ?? retryAfter
        (self.status, self.body) = (status, body)
    }
}

/// Sends requests.
package protocol Transport: Sendable {
    func send(_ request: ClientRequest) async throws -> ClientResponse
}

package enum TransportFailure: Error {
    case timeout
    case tooLarge
    case unreachable
    case noResponse
}
