internal import Attribution
internal import DomainFiles
internal import HTTPServer
internal import JSON

/// `POST /admin/api/domains/check`: fetches a host's domain files from the public Internet and validates them against
/// the rules of Apple and Google.
enum CheckDomain {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let body = try JSONBody(exchange.request, accepting: ["application/json"])
        guard let host = try body.text("host", 253) else {
            throw .missingField("host", "host is the host name whose domain files are to be checked")
        }
        guard let name = LinkHost(host), name.text == host.lowercased() else {
            throw .invalidField(
                "host",
                "must be a host name such as links.example.com, without https:// and a path"
            )
        }
        var url: AssociationURL?
        if let text = try body.text("url", 2048) {
            guard let parsed = AssociationURL(text) else {
                throw .invalidField("url", "must be a path such as /products/1, or a whole https URL")
            }
            url = parsed
        }
        let decided = url
        // The outer nil stands for too many calls at once, the inner one for an invalid host.
        let validation = await context.service.settings.outgoing.perform { client in
            DomainValidation.ofHost(name.text, url: decided, by: client)
        }
        guard let validation else {
            throw APIError(
                status: .serviceUnavailable,
                code: .unavailable,
                message: "Too many checks of domains are under way; try again in some seconds",
                retryAfter: 5
            )
        }
        guard let validation else { throw .invalidField("host", "is no host name") }
        return Response(.ok, json: validation.json())
    }
}
