internal import Attribution
internal import HTTPServer

/// `GET /campaign/resolve/{key}` and `GET /resolve/{key}`: newer clients ask what a campaign key stands for.
///
/// Every member of the answer is optional; as long as no link is stored under the key, its name is all that is
/// known of it.
enum ResolveCampaign {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let text = QueryItem.text(ofPathPart: exchange.parameter ?? "")
        guard let key = CampaignKey(text) else {
            throw .notFound("A campaign key has 1 to \(CampaignKey.maximumLength) characters")
        }
        var json = JSONWriter()
        json.object { json in
            json.member("keyName", key.text)
        }
        return Response(.ok, json: json)
    }
}
