public import Attribution
public import JSON

/// The JSON form of a link.
public struct LinkBody {
    private let listing: LinkListing
    private let app: App?
    private let now: Timestamp

    /// - Parameters:
    ///   - listing: the link and its counts.
    ///   - app: the link's app.
    ///   - now: the time that decides whether the link has expired.
    public init(_ listing: LinkListing, of app: App?, at now: Timestamp) {
        self.listing = listing
        self.app = app
        self.now = now
    }

    /// Members of the response that set no field: ignored when a client sends them back.
    static let ownMembers: Set<String> = [
        "id", "app", "slug", "url", "ending", "clicks", "robots", "matches", "former_variants", "created_at",
        "updated_at", "archived_at",
    ]

    public func write(to json: inout JSONWriter) {
        let link = listing.link
        json.object { json in
            json.member("id", link.id.text)
            json.member("app", link.app.text)
            json.member("slug", link.slug.text)
            json.member("url", app.flatMap(link.url(of:)))
            json.members(of: link.settings.fields)
            writeVariants(to: &json)
            json.member("ending", link.ending(at: now, clicks: listing.clicks)?.rawValue)
            json.member("clicks", listing.clicks)
            json.member("robots", listing.robots)
            json.member("matches", listing.matches)
            json.member("created_at", link.createdAt.iso8601)
            json.member("updated_at", link.updatedAt.iso8601)
            json.member("archived_at", link.archivedAt?.iso8601)
        }
    }

    private func writeVariants(to json: inout JSONWriter) {
        let variants = listing.link.settings.variants
        let former = listing.variants.filter { count in !variants.contains { $0.name == count.name } }
        if !variants.isEmpty {
            json.objects("variants", variants) { json, variant in
                let counts = listing.variants.first { $0.name == variant.name }
                json.member("name", variant.name)
                json.member("weight", variant.weight)
                json.member("destination", variant.target.text)
                json.member("clicks", counts?.clicks ?? 0)
                json.member("matches", counts?.matches ?? 0)
            }
        }
        guard !former.isEmpty else { return }
        json.objects("former_variants", former) { json, counts in
            json.member("name", counts.name)
            json.member("clicks", counts.clicks)
            json.member("matches", counts.matches)
        }
    }

    /// Writes a page of links, as `{"links":[…],"next":"lnk_…"}`.
    static func page(_ page: LinkPage, _ directory: Directory, at now: Timestamp) -> JSONWriter {
        var json = JSONWriter()
        json.object { json in
            json.member("links") { json in
                json.array { json in
                    for listing in page.links {
                        LinkBody(listing, of: directory.app(listing.link.app), at: now).write(to: &json)
                    }
                }
            }
            json.member("next", orNull: page.next?.text)
        }
        return json
    }
}
