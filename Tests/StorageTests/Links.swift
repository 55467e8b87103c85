import Attribution
import TestDatabases
import Testing

/// Creates links for the tests of the store.
enum SampleLink {
    static let noon = TestStore.noon

    static func fields(_ values: [LinkField: [String]] = [:]) -> LinkFields {
        var fields = LinkFields()
        fields.set(.destination, "myapp://promo")
        for (field, texts) in values { fields[field] = texts }
        return fields
    }

    /// Returns a link, by default of the first app.
    static func make(
        _ number: UInt64,
        slug: String? = nil,
        app: AppID = AppID(high: 1, low: 1),
        _ values: [LinkField: [String]] = [:]
    ) throws -> Link {
        Link(
            id: LinkID(high: 100, low: number),
            app: app,
            slug: try LinkSlug(parsing: slug ?? "link-\(number)"),
            settings: try Link.Settings(fields(values)),
            createdAt: noon,
            updatedAt: noon
        )
    }
}

extension LinkStore {
    /// Creates a link of an app that shares its link hosts with no other app.
    func create(_ link: Link) async throws(LinkStoreError) {
        try await create([NewLink(link, neighbours: [link.app])])
    }

    /// Returns the slugs of a page of links.
    func slugs(_ query: LinkQuery) async throws(StoreError) -> [String] {
        try await links(query).links.map(\.link.slug.text)
    }
}

/// Returns the error with which a change of links was refused; nil if it was not refused.
func refusal(_ body: () async throws -> Void) async -> LinkStoreError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? LinkStoreError ?? .store(StoreError(.defect, "\(error)"))
    }
}
