public import Attribution
internal import SQLite
internal import Storage

extension SQLiteSession: CheckStore {
    public func checks(_ query: CheckQuery) async throws(StoreError) -> CheckPage {
        try await flushUpdates()
        let apps = try appsByScope()
        return try await readInBackground { reader throws(SQLiteError) in
            try reader.page(query, of: apps)
        }
    }

    public func explanation(of reference: CheckReference, by explainer: Explainer) async throws(StoreError)
        -> Explanation?
    {
        try await flushUpdates()
        let apps = try appsByScope()
        let material = try await readInBackground { reader throws(SQLiteError) in
            try ExplanationReader(reader, apps).material(of: reference)
        }
        guard let material else { return nil }
        // Holds no snapshot meanwhile.
        return try await readInBackground { _ throws(SQLiteError) in explainer.explain(material) }
    }

    public func material(ofClick id: ClickID) async throws(StoreError) -> ClickExplanationInput? {
        try await flushUpdates()
        let apps = try appsByScope()
        return try await readInBackground { reader throws(SQLiteError) in
            try ClickExplanationReader(reader, apps).material(of: id)
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
