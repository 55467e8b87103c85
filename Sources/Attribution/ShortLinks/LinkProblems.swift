/// Validates a link's settings against the settings of its app.
extension Link.Settings {
    /// Returns the problems of the link for this app; empty if there are none.
    ///
    /// `now` is compared with the link's expiry.
    public func problems(for app: App.Settings, at now: Timestamp) -> [FieldProblem] {
        targetProblems(for: app) + pageProblems(for: app) + otherProblems(at: now)
    }

    private func targetProblems(for app: App.Settings) -> [FieldProblem] {
        var problems: [FieldProblem] = []
        if target == nil, iosTarget == nil, androidTarget == nil, variants.isEmpty {
            problems.append(
                FieldProblem(
                    LinkField.destination,
                    "The link leads nowhere; give a destination such as myapp://promo/item or /promo/item."
                )
            )
        }
        for (field, target) in namedTargets {
            problems += target.problem(of: field, for: app).map { [FieldProblem(field, $0)] } ?? []
        }
        return problems
    }

    /// All targets with their fields.
    private var namedTargets: [(field: LinkField, target: Link.Target)] {
        [(.destination, target), (.iosDestination, iosTarget), (.androidDestination, androidTarget)]
            .compactMap { field, target in target.map { (field, $0) } }
            + variants.map { (.variants, $0.target) }
    }

    private func pageProblems(for app: App.Settings) -> [FieldProblem] {
        let pages: [(LinkField, WebURL?)] = [
            (.desktopURL, fallbacks.desktop), (.iosFallback, fallbacks.ios),
            (.androidFallback, fallbacks.android),
            (.huaweiFallback, fallbacks.huawei),
        ]
        return pages.compactMap { field, page in
            guard let page, !app.links.allows(page) else { return nil }
            return FieldProblem(field, "\(field.rawValue) \(AppLinks.foreignHost(page.host))")
        }
    }

    private func otherProblems(at now: Timestamp) -> [FieldProblem] {
        guard let expiresAt, expiresAt <= now else { return [] }
        return [FieldProblem(LinkField.expiresAt, "expires_at is in the past; give a later time, or none.")]
    }
}

extension Link.Target {
    fileprivate func problem(of field: LinkField, for app: App.Settings) -> String? {
        switch self {
        case .path(let path): Self.problem(of: field, path, schemes: app.links.schemes)
        case .url(let url): Self.problem(of: field, url, for: app)
        }
    }

    private static func problem(of field: LinkField, _ url: DeepLinkURL, for app: App.Settings) -> String? {
        // The operator's own links may lead to all targets that visitors' clicks may lead to.
        guard app.destinations.isEmpty || !app.allows(url) else { return nil }
        guard let parts = try? URLParts(Array(url.text.utf8)) else { return nil }
        guard parts.isWeb else { return schemeProblem(of: field, parts.scheme, known: app.links.schemes) }
        guard parts.scheme == "https"
        else { return "\(field.rawValue) leads to a page without encryption; start it with https://." }
        guard let host = try? parts.host().name, !app.links.allows(webHost: host) else { return nil }
        return "\(field.rawValue) \(AppLinks.foreignHost(host))"
    }

    private static func schemeProblem(of field: LinkField, _ scheme: String, known: [String]) -> String? {
        guard !known.isEmpty, !known.contains(scheme) else { return nil }
        return "\(field.rawValue) has the scheme \(scheme), which is none of the app's: "
            + known.joined(separator: ", ")
            + ". Write one of them, or set another with \"afterlink apps set --ios-scheme\" or "
            + "\"--android-scheme\"."
    }

    private static func problem(of field: LinkField, _ path: LinkPath, schemes: [String]) -> String? {
        guard !schemes.isEmpty else {
            return "\(field.rawValue) is a path, and the app has no scheme to put before it; set one with "
                + "\"afterlink apps set --ios-scheme myapp\" or \"--android-scheme myapp\", or write a whole "
                + "link such as myapp:/\(path.text)."
        }
        guard schemes.allSatisfy({ path.url(scheme: $0) != nil }) else {
            return "\(field.rawValue): the first part of the path is read as a host after the app's "
                + "scheme; let it be letters, digits, -, . and _ only."
        }
        return nil
    }
}

extension AppLinks {
    /// The schemes that open the app, each once.
    public var schemes: [String] {
        let all = [apple.scheme, android.scheme].compactMap { $0 }
        return all.count == 2 && all[0] == all[1] ? [all[0]] : all
    }

    /// Returns whether links and fallbacks may lead to a web host.
    public func allows(webHost host: String) -> Bool {
        guard let webHosts else { return true }
        return webHosts.contains(host) || hosts.contains { $0.text == host }
    }

    /// Returns whether a fallback may be this page: it is in a store, or on a host that the app allows.
    func allows(_ page: WebURL) -> Bool { Self.storeHosts.contains(page.host) || allows(webHost: page.host) }

    /// The hosts of the platforms' stores, which fallbacks may always lead to.
    private static let storeHosts: Set<String> = [
        "apps.apple.com", "itunes.apple.com", "testflight.apple.com", "play.google.com",
        "appgallery.huawei.com",
        "appgallery.cloud.huawei.com", "galaxystore.samsung.com", "apps.samsung.com", "app.mi.com",
    ]

    /// Returns the error message for a host that the app does not allow, without the field's name at its start.
    static func foreignHost(_ host: String) -> String {
        "leads to \(host), which is none of the app's web hosts; add it with "
            + "\"afterlink apps set --web-host \(host)\", or allow all with --web-host any."
    }
}
