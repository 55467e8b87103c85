internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /admin/api/checks/{id}/explain`: explains a check by its own id, or by that of its request or of a click; for
/// a click that no check found, explains what became of it.
enum ExplainCheck {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let keys = context.keys.server.all
        // Proxies would log a fingerprint in a path.
        guard let text = exchange.parameter.map(QueryItem.text(ofPathPart:)), Fingerprint(hex: text) == nil,
            let reference = CheckReference(text, keys: keys)
        else {
            throw .invalidField(
                "id",
                "must be the id of a check (chk_…), of a request, or of a click (clk_…)"
            )
        }
        let devices = context.service.settings.devices
        let explainer = Explainer(keys: keys, directory: exchange.directory, data: devices)
        let explanation = try await exchange.store(
            await context.stores.checks.explanation(of: reference, by: explainer)
        )
        guard let explanation else {
            if case .click(let id) = reference, let click = try await explained(id, exchange, context) {
                return Response(.ok, json: ClickExplanationBody(click).json())
            }
            throw .notFound(
                "No check is recorded under this id. Records are kept as long as clicks are after their window;"
                    + " GET /admin/api/checks lists them",
                field: "id"
            )
        }
        return Response(.ok, json: ExplanationBody(explanation).json())
    }

    private static func explained(
        _ click: ClickID,
        _ exchange: Exchange,
        _ context: LoopContext
    ) async throws(APIError) -> ClickExplanation? {
        try await exchange.store(await context.stores.checks.material(ofClick: click))
            .map { ClickExplanation($0, in: exchange.directory, at: exchange.now) }
    }
}
