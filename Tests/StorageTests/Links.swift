import Attribution
import Testing

/// Links as the tests of their store make them.
enum SampleLink {
    static let noon = TestStore.noon

    static func fields(_ values: [LinkField: [String]] = [:]) -> LinkFields {
        var fields = LinkFields()
        fields.set(.destination, "myapp://promo")
        for (field, texts) in values { fields[field] = texts }
        return fields
    }

    /// A link of the first app, which has no neighbours.
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
    func create(_ link: Link) async throws(LinkStoreError) {
        try await create([NewLink(link, neighbours: [link.app])])
    }

    /// Slugs of a page.
    func slugs(_ query: LinkQuery) async throws(StoreError) -> [String] {
        try await links(query).links.map(\.link.slug.text)
    }
}

/// Why a change of links was refused; nil where it was not.
func refusal(_ body: () async throws(LinkStoreError) -> Void) async -> LinkStoreError? {
    do throws(LinkStoreError) {
        try await body()
        return nil
    } catch {
        return error
    }
}
