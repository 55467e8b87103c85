import Foundation
import FoundationNetworking
import Testing

enum TestRequest {
    static func post(_ url: String, _ body: Data, key: String) async throws -> Data {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        return try await URLSession.shared.data(for: request).0
    }
}
