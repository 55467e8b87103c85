public import Attribution
internal import SQLite
internal import Storage

extension SQLiteSession: CheckStore {
    public func checks(_ query: CheckQuery) async throws(StoreError) -> CheckPage {
        try await flushUpdates()
        let apps = try appsByScope()
        return try await readInBackground { reader throws(SQLiteError) in
            try CheckPageReader(reader: reader, apps: apps).page(query)
        }
    }

    public func explanation(of reference: CheckReference, by explainer: Explainer) async throws(StoreError)
        -> Explanation?
    {
        try await flushUpdates()
        let apps = try appsByScope()
        let material = try await readInBackground { reader throws(SQLiteError) in
            try ExplanationReader(reader: reader, apps: apps).material(of: reference)
        }
        guard let material else { return nil }
        // Holds no snapshot meanwhile.
        return try await readInBackground { _ throws(SQLiteError) in explainer.explain(material) }
    }

    public func material(ofClick id: ClickID) async throws(StoreError) -> ClickExplanationInput? {
        try await flushUpdates()
        let apps = try appsByScope()
        return try await readInBackground { reader throws(SQLiteError) in
            try ClickExplanationReader(reader: reader, apps: apps).material(of: id)
        }
    }

    private func appsByScope() throws(StoreError) -> CheckedApps {
        var apps = CheckedApps()
        for app in try currentDirectory().apps {
            for isTest in [false, true] {
                if let scope = try scope(of: app.id, isTest: isTest) {
                    apps.add(app.id, isTest: isTest, scope)
                }
            }
        }
        return apps
    }
}

/// Whose the scopes are.
struct CheckedApps: Sendable {
    private var owners: [Scope: (app: AppID, isTest: Bool)] = [:]

    mutating func add(_ app: AppID, isTest: Bool, _ scope: Scope) {
        owners[scope] = (app, isTest)
    }

    /// The check of a row; nil where its app is not known yet.
    func check(_ row: CheckRow) -> RecordedCheck? {
        guard let owner = owners[row.record.scope] else { return nil }
        return RecordedCheck(
            id: row.record.id,
            app: owner.app,
            isTest: owner.isTest,
            facts: row.record.facts,
            campaign: row.campaign
        )
    }

    /// Nil for one of an app that is not known yet.
    func owner(of scope: Scope) -> (app: AppID, isTest: Bool)? { owners[scope] }

    /// Those of an app, or of all, with live or with test traffic.
    func scopes(of app: AppID?, isTest: Bool) -> [Scope] {
        owners.filter { $0.value.isTest == isTest && (app == nil || $0.value.app == app) }.map(\.key)
    }
}
