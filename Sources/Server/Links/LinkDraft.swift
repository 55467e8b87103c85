public import Attribution
public import JSON

/// Creates links from the fields of the admin API, commands and imported files, and validates each as a whole.
public enum LinkDraft {
    /// Reads a link's settings from fields.
    ///
    /// - Parameters:
    ///   - fields: the fields that were sent.
    ///   - app: the link's app.
    ///   - now: the earliest time that a new expiry may have.
    ///   - earlier: the link's current settings; an unchanged expiry may be in the past.
    /// - Returns: the new settings.
    /// - Throws: ``FieldProblems`` with every problem.
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
                let advice = "metadata must be a JSON object such as {\"offer\":\"summer\"}."
                problems.append(FieldProblem(LinkField.metadata, advice))
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

    /// Reads a link's fields from a JSON object, except its slug, its app and members that clients cannot set.
    public static func fields(_ object: JSONObject) -> (fields: LinkFields, problems: [FieldProblem]) {
        let body = FieldBody<LinkField>(object, over: LinkFields(), ignoring: LinkBody.ownMembers)
        return (body.fields, body.problems)
    }

    /// Creates a link of an app.
    ///
    /// - Parameters:
    ///   - slug: the chosen slug; nil or empty for a random one that cannot be guessed.
    ///   - fields: the fields that were sent.
    ///   - app: the link's app.
    ///   - directory: all apps; some may share a link host with `app`.
    ///   - now: the time of creation.
    ///   - random: the source of the link's identifier, and of its slug if none was chosen.
    ///   - isArchived: whether the link is archived from the start.
    /// - Returns: the link, which is not stored yet.
    /// - Throws: ``FieldProblems`` with every problem.
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
            // An archived link comes from another service's export, and its expiry may be in the past.
            let start = isArchived ? Timestamp(milliseconds: .min) : now
            settings = try self.settings(fields, for: app, at: start)
        } catch { problems += error.all }
        guard problems.isEmpty else { throw FieldProblems(problems) }
        let id = LinkID(at: now, random: random)
        let link = Link(id: id, app: app.id, slug: chosen, settings: settings, createdAt: now, updatedAt: now)
        return NewLink(link, neighbours: directory.neighbours(of: app).map(\.id))
    }
}

extension LinkStoreError {
    /// A sentence that says what is wrong and what to do; nil if the store itself failed.
    public var advice: String? {
        switch self {
        case .slugTaken(let slug):
            "The slug \(slug.text) is taken by another link of the same link hosts; choose another."
        case .notFound: "There is no such link."
        case .changed: "Another request changed the link meanwhile; read it again and repeat the change."
        case .clicked: "The link has clicks, and its counts must remain; archive it instead."
        case .store: nil
        }
    }
}

/// The JSON object that a link passes to the app.
enum LinkMetadata {
    /// Returns the object without blanks and line breaks; nil for a text that is not a JSON object.
    static func compacted(_ text: String) -> String? {
        guard let value = try? JSONValue(parsing: Array(text.utf8)), case .object = value else { return nil }
        var json = JSONWriter()
        json.value(value)
        return json.text
    }

    /// Merges the metadata that the app gets: the click's, then the link's, then the link's UTM parameters and referral
    /// code.
    ///
    /// If two members have the same name, the first counts. If the result is too long, returns the click's metadata
    /// alone, or the link's if the click has none. Returns nil if there is nothing to merge.
    static func merged(_ own: String?, _ settings: Link.Settings) -> String? {
        let parameters =
            settings.utm.map { ($0.name, $0.value) }
            + (settings.referralCode.map { [("referral_code", $0)] } ?? [])
        guard !parameters.isEmpty || (own != nil && settings.metadata != nil) else {
            return own ?? settings.metadata
        }
        var names: Set<String> = []
        let json = JSONWriter.object { json in
            for text in [own, settings.metadata] {
                for member in members(of: text) where names.insert(member.name).inserted {
                    json.name(member.name)
                    json.value(member.value)
                }
            }
            for (name, value) in parameters where names.insert(name).inserted { json.member(name, value) }
        }
        guard json.bytes.count <= Link.Settings.maximumMetadataByteCount else {
            return own ?? settings.metadata
        }
        return json.text
    }

    /// The UTM parameters that a click's metadata can get from its post and from the tapped address.
    static let utmNames = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id"]

    /// Adds the UTM parameters among `items` that the metadata lacks; of several with one name, the first counts.
    ///
    /// An item that is too long, or that makes the metadata too long, is left out.
    static func adding(_ items: [QueryItem], to metadata: String?) -> String? {
        let items = items.filter { item in
            utmNames.contains(item.name) && !item.value.isEmpty
                && item.value.unicodeScalars.count <= ClickBody.maximumTextLength
        }
        guard !items.isEmpty else { return metadata }
        var (names, result) = (Set(members(of: metadata).map(\.name)), metadata)
        for item in items where !names.contains(item.name) {
            var json = JSONWriter()
            json.value(item.value)
            let longer = adding(item.name, json: json.text, to: result)
            guard longer.utf8.count <= ClickBody.maximumMetadataByteCount else { continue }
            names.insert(item.name)
            result = longer
        }
        return result
    }

    /// Returns an object with one more member; its other members stay as they were written, to the byte.
    static func adding(_ name: String, json: String, to object: String?) -> String {
        guard let object, let end = object.utf8.lastIndex(of: UInt8(ascii: "}")), !members(of: object).isEmpty
        else { return "{\"\(name)\":\(json)}" }
        return "\(object[..<end]),\"\(name)\":\(json)}"
    }

    static func members(of text: String?) -> [JSONObject.Member] {
        guard let text, let value = try? JSONValue(parsing: Array(text.utf8)) else { return [] }
        return value.object?.members ?? []
    }
}
