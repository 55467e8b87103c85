public import Attribution

extension Directory {
    /// What an operator should change before strangers can reach the service; told at the start and with the
    /// statistics.
    public var warnings: [String] {
        let destinations = apps.filter(\.settings.destinations.isEmpty).map { app in
            "the app \"\(app.settings.name)\" allows any destination: a stranger can plant a link in somebody's first"
                + " launch; set them with `afterlink apps set --app \(app.id.text) --destination …`"
        }
        guard !keys.contains(where: { $0.kind == .admin && $0.revokedAt == nil }) else { return destinations }
        return destinations + [
            "there is no admin key, so that nobody can call /admin; make one with"
                + " `afterlink keys create --kind admin`"
        ]
    }
}
