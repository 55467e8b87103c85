public import Attribution

extension Directory {
    /// Warnings about what an operator should change before strangers can reach the service, logged at the start and
    /// listed in the statistics.
    public var warnings: [String] {
        let destinations = openDestinations
        guard !keys.contains(where: { $0.kind == .admin && $0.revokedAt == nil }) else { return destinations }
        return destinations + [
            "there is no admin key, so /admin cannot be called; create one with"
                + " `afterlink keys create --kind admin`"
        ]
    }

    /// One warning for all apps that allow any destination.
    private var openDestinations: [String] {
        let open = apps.filter(\.settings.destinations.isEmpty)
        guard let first = open.first else { return [] }
        let danger = "any destination: a stranger can plant a link in somebody's first launch"
        guard open.count > 1 else {
            return [
                "the app \"\(first.settings.name)\" allows \(danger); set them with"
                    + " `afterlink apps set --app \(first.id.text) --destination …`"
            ]
        }
        let names = open.prefix(Self.namedApps).map { "\"\($0.settings.name)\"" }.joined(separator: ", ")
        let more = open.count > Self.namedApps ? " and \(open.count - Self.namedApps) more" : ""
        return [
            "\(open.count) apps allow \(danger): \(names)\(more); set them with"
                + " `afterlink apps set --app … --destination …` for each"
        ]
    }

    private static let namedApps = 10
}
