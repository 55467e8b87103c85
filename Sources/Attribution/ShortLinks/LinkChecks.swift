/// What an app allows its links to say.
extension Link.Settings {
    /// What is wrong with the link for this app; empty where nothing is.
    ///
    /// An expiry is judged against `now`.
    public func problems(for app: App.Settings, at now: Timestamp) -> [LinkProblem] {
        targetProblems(for: app) + pageProblems(for: app) + otherProblems(at: now)
    }

    private func targetProblems(for app: App.Settings) -> [LinkProblem] {
        var problems: [LinkProblem] = []
        if target == nil, iosTarget == nil, androidTarget == nil, variants.isEmpty {
            problems.append(
                LinkProblem(
                    .destination,
                    "The link leads nowhere; give a destination such as myapp://promo/item or /promo/item."
                )
            )
        }
        for (field, target) in namedTargets {
            problems += target.problems(of: field, for: app)
        }
        return problems
    }

    /// All targets with the fields that they stand in.
    private var namedTargets: [(field: LinkField, target: Link.Target)] {
        [(.destination, target), (.iosDestination, iosTarget), (.androidDestination, androidTarget)]
            .compactMap { field, target in target.map { (field, $0) } }
            + variants.map { (.variants, $0.target) }
    }

    private func pageProblems(for app: App.Settings) -> [LinkProblem] {
        let pages: [(LinkField, WebURL?)] = [
            (.desktopURL, fallbacks.desktop), (.iosFallback, fallbacks.ios),
            (.androidFallback, fallbacks.android),
            (.huaweiFallback, fallbacks.huawei),
        ]
        return pages.compactMap { field, page in
            guard let page, !app.links.allows(webHost: page.host) else { return nil }
            return LinkProblem(
                field,
                "\(field.rawValue) leads to \(page.host), which is none of the app's web hosts; add it with "
                    + "\"afterlink apps set --web-host \(page.host)\", or allow all with --web-host any."
            )
        }
    }

    private func otherProblems(at now: Timestamp) -> [LinkProblem] {
        var problems: [LinkProblem] = []
        if let expiresAt, expiresAt <= now {
            problems.append(
                LinkProblem(.expiresAt, "expires_at lies in the past; give a later time, or none.")
            )
        }
        return problems
    }
}

extension Link.Target {
    fileprivate func problems(of field: LinkField, for app: App.Settings) -> [LinkProblem] {
        switch self {
        case .path(let path):
            return pathProblems(path, of: field, for: app)
        case .url(let url):
            guard let parts = try? URLParts(Array(url.text.utf8)) else { return [] }
            if parts.isWeb {
                guard let host = try? parts.host().name, !app.links.allows(webHost: host) else { return [] }
                return [
                    LinkProblem(
                        field,
                        "\(field.rawValue) leads to \(host), which is none of the app's web hosts; add it with "
                            + "\"afterlink apps set --web-host \(host)\", or allow all with --web-host any."
                    )
                ]
            }
            let known = app.links.schemes
            guard !known.isEmpty, !known.contains(parts.scheme) else { return [] }
            return [
                LinkProblem(
                    field,
                    "\(field.rawValue) has the scheme \(parts.scheme), which is none of the app's: "
                        + known.joined(separator: ", ")
                        + ". Write one of them, or set another with \"afterlink apps set --ios-scheme\" or "
                        + "\"--android-scheme\"."
                )
            ]
        }
    }

    private func pathProblems(_ path: LinkPath, of field: LinkField, for app: App.Settings) -> [LinkProblem] {
        guard !app.links.schemes.isEmpty else {
            return [
                LinkProblem(
                    field,
                    "\(field.rawValue) is a path, and the app has no scheme to put before it; set one with "
                        + "\"afterlink apps set --ios-scheme myapp\" or \"--android-scheme myapp\", or write a whole "
                        + "link such as myapp:/\(path.text)."
                )
            ]
        }
        guard app.links.schemes.allSatisfy({ path.url(scheme: $0) != nil }) else {
            return [
                LinkProblem(
                    field,
                    "\(field.rawValue): the first part of the path stands where a host does behind the app's scheme; "
                        + "let it be letters, digits, -, . and _ only."
                )
            ]
        }
        return []
    }
}

extension AppLinks {
    /// The schemes that open the app, each once.
    public var schemes: [String] {
        let all = [apple.scheme, android.scheme].compactMap { $0 }
        return all.count == 2 && all[0] == all[1] ? [all[0]] : all
    }

    /// Whether links and fallbacks may lead to a web host.
    public func allows(webHost host: String) -> Bool {
        guard let webHosts else { return true }
        return webHosts.contains(host) || hosts.contains { $0.text == host }
    }
}
