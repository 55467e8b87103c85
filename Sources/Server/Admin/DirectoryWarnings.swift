public import Attribution

extension Directory {
    /// What an operator should change before strangers can reach the service; told at the start and with the
    /// statistics.
    public var warnings: [String] {
        apps.filter(\.settings.destinations.isEmpty).map { app in
            "the app \"\(app.settings.name)\" allows any destination: a stranger can plant a link in somebody's first"
                + " launch; set them with `afterlink apps set --app \(app.id.text) --destination …`"
        }
    }
}
