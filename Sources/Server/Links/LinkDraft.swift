public import Attribution
public import JSON

/// What somebody wants a link to be, from whichever way in it came: checked as a whole.
public enum LinkDraft {
    /// The settings that fields mean for a link of this app.
    ///
    /// - Parameters:
    ///   - fields: what was said.
    ///   - app: whose link it is.
    ///   - now: by which an expiry is judged.
    ///   - earlier: what the link says so far: an expiry that is not changed may lie in the past.
    /// - Returns: what the link is to say.
    /// - Throws: ``FieldProblems``, all there are.
    public static func settings(
        _ fields: LinkFields,
        for app: App,
        at now: Timestamp,
        insteadOf earlier: Link.Settings? = nil
    ) throws(FieldProblems) -> Link.Settings {
        var fields = fields
        var problems: [FieldProblem] = []
        if let metadata = fields.text(.metadata) {
            let compacted = LinkMetadata.compacted(metadata)
            fields.set(.metadata, compacted)
            if compacted == nil {
                problems.append(
                    FieldProblem(
                        LinkField.metadata,
                        "metadata must be a JSON object such as {\"offer\":\"summer\"}."
                    )
                )
            }
        }
        let settings: Link.Settings
        do throws(FieldProblems) {
            settings = try Link.Settings(fields)
        } catch {
            throw FieldProblems(error.all + problems)
        }
        problems += settings.problems(for: app.settings, at: now).filter { problem in
            problem.field != LinkField.expiresAt.rawValue || settings.expiresAt != earlier?.expiresAt
        }
        guard problems.isEmpty else { throw FieldProblems(problems) }
        return settings
    }

    /// What a JSON object says of a link, besides its slug, its app and what a client cannot set.
    public static func fields(_ object: JSONObject) -> (fields: LinkFields, problems: [FieldProblem]) {
        let body = FieldBody<LinkField>(object, over: LinkFields(), besides: LinkBody.ownMembers)
        return (body.fields, body.problems)
    }

    /// A new link of an app; without a slug it gets one that nobody guesses.
    ///
    /// - Parameters:
    ///   - slug: as it was chosen.
    ///   - fields: what was said.
    ///   - app: whose link it is.
    ///   - directory: all apps, some of which may share a link host with it.
    ///   - now: when it is made.
    ///   - random: for its identifier, and its slug where none was chosen.
    ///   - isArchived: whether it leads nowhere from the beginning.
    /// - Returns: the link, which nobody knows of yet.
    /// - Throws: ``FieldProblems``, all there are.
    public static func link(
        _ slug: String?,
        _ fields: LinkFields,
        of app: App,
        in directory: Directory,
        at now: Timestamp,
        random: RandomSource,
        isArchived: Bool = false
    ) throws(FieldProblems) -> NewLink {
        var problems: [FieldProblem] = []
        var chosen = LinkSlug(random: random)
        if let slug, !slug.isEmpty {
            do throws(LinkSlugError) {
                chosen = try LinkSlug(parsing: slug)
            } catch {
                problems.append(FieldProblem("slug", error.message))
            }
        }
        var settings = Link.Settings()
        do throws(FieldProblems) {
            // An archived one comes from an export: it may have expired long ago.
            let start = isArchived ? Timestamp(milliseconds: .min) : now
            settings = try self.settings(fields, for: app, at: start)
        } catch {
            problems += error.all
        }
        guard problems.isEmpty else { throw FieldProblems(problems) }
        let link = Link(
            id: LinkID(at: now, random: random),
            app: app.id,
            slug: chosen,
            settings: settings,
            createdAt: now,
            updatedAt: now
        )
        return NewLink(link, neighbours: directory.neighbours(of: app).map(\.id))
    }
}

extension LinkStoreError {
    /// In plain words: what is wrong and what to do; nil for the store's own failure.
    public var advice: String? {
        switch self {
        case .slugTaken(let slug):
            "The slug \(slug.text) is taken by another link of the same link hosts; choose another."
        case .notFound: "There is no such link."
        case .changed: "The link was changed by somebody else meanwhile; read it again and repeat the change."
        case .clicked:
            "The link was clicked, and is kept so that what it brought stays told; archive it instead."
        case .store: nil
        }
    }
}
