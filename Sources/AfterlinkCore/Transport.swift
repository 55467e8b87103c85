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
    /// The value of `Retry-After`.
    package let retryAfter: String?
    package let body: Data

    package init(status: Int, retryAfter: String? = nil, body: Data = Data()) {
        (self.status, self.retryAfter, self.body) = (status, retryAfter, body)
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
