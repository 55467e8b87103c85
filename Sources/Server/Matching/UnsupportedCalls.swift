internal import HTTPServer
internal import JSON

/// `GET /v1/skan/config`: switches conversion updates off in newer clients.
///
/// Without this final response they would retry for thirty days.
enum ShowSKAdNetworkConfiguration {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        Response(.ok) { $0.member("enabled", false) }
    }
}

/// `POST /v1/apple-ads/attribution`: declines Apple's attribution token, which newer clients send.
///
/// The token is neither stored nor logged; the final response keeps clients from retrying.
enum DeclineAppleAdsAttribution {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        Response(.ok) { $0.member("status", "unsupported") }
    }
}
