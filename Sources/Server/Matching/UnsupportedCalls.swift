internal import HTTPServer
internal import JSON

/// `GET /v1/skan/config`: newer clients ask whether to update conversion values; a final "no" keeps a fleet from
/// retrying for thirty days.
enum ShowSKAdNetworkConfiguration {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var json = JSONWriter()
        json.object { $0.member("enabled", false) }
        return Response(.ok, json: json)
    }
}

/// `POST /v1/apple-ads/attribution`: newer clients send Apple's attribution token.
///
/// It is neither stored nor logged; the final response keeps them from retrying.
enum DeclineAppleAdsAttribution {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var json = JSONWriter()
        json.object { $0.member("status", "unsupported") }
        return Response(.ok, json: json)
    }
}
