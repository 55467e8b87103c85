internal import Attribution
internal import Server

/// Creates the links of a file, and records the outcome of each.
struct LinkImport {
    /// The outcome of one line.
    struct Outcome {
        let number: Int
        let slug: String?
        var id: LinkID?
        var problems: [FieldProblem]
    }

    private let database: CommandDatabase
    private let directory: Directory
    private let app: App?
    private let isNamed: Bool
    private var progress = ProgressLine()
    private(set) var outcomes: [Outcome] = []
    /// The number of ``outcomes`` with a link, stored so that no slice has to count them again.
    private(set) var madeCount = 0
    /// The number of ``outcomes`` with problems.
    private(set) var refusedCount = 0
    private(set) var remarks = ImportRemarks()

    /// The maximum number of links in a transaction, because the writes of a serving process wait for it.
    private static let sliceLength = 200

    /// - Parameters:
    ///   - database: the database.
    ///   - directory: the database's apps and keys.
    ///   - app: the app of lines that name no app.
    ///   - isNamed: whether `--app` named `app`, so that it also gets the lines of apps that do not exist here.
    init(into database: CommandDatabase, _ directory: Directory, app: App?, isNamed: Bool) {
        (self.database, self.directory, self.app, self.isNamed) = (database, directory, app, isNamed)
    }

    /// Creates the valid links; with `allOrNothing`, none if one is wrong.
    ///
    /// A trial creates no link and records which links would be refused. If another process takes a slug meanwhile,
    /// a run with `allOrNothing` deletes the links that it has created, except clicked ones.
    mutating func run(_ file: LinkFile, allOrNothing: Bool, isTrial: Bool) async throws {
        let drafts = try await check(file)
        guard !isTrial, !allOrNothing || refusedCount == 0 else { return progress.finish() }
        var rest = drafts[...]
        while !rest.isEmpty {
            let slice = Array(rest.prefix(Self.sliceLength))
            rest = rest.dropFirst(slice.count)
            try await make(slice)
            let count = madeCount
            progress.update("Creating: \(count) of \(drafts.count) links")
            // If a slug was refused here, another process has taken it since the validation.
            guard !allOrNothing || refusedCount == 0 else {
                try await undo()
                break
            }
        }
        progress.finish()
    }

    /// A valid link, and the index of its outcome.
    private typealias Draft = (index: Int, new: NewLink)

    private mutating func check(_ file: LinkFile) async throws -> [Draft] {
        var drafts: [Draft] = []
        var slugs: Set<TakenSlug> = []
        for entry in file.entries {
            let draft = draft(entry)
            var outcome = Outcome(number: entry.number, slug: entry.slug, problems: draft.problems)
            if let new = draft.new {
                let slug = new.link.slug
                let isNew = slugs.isDisjoint(with: new.neighbours.map { TakenSlug(app: $0, slug: slug) })
                let isTaken = try await database.links.link(slug, of: new.neighbours) != nil
                slugs.insert(TakenSlug(app: new.link.app, slug: slug))
                if !isNew || isTaken {
                    outcome.problems = [FieldProblem("slug", LinkStoreError.slugTaken(slug).advice ?? "")]
                } else {
                    drafts.append((outcomes.count, new))
                }
            }
            outcomes.append(outcome)
            if !outcome.problems.isEmpty { refusedCount += 1 }
            let done = outcomes.count
            progress.update("Checking: \(done) of \(file.entries.count) links")
        }
        return drafts
    }

    private struct TakenSlug: Hashable {
        let app: AppID
        let slug: LinkSlug
    }

    private mutating func draft(_ entry: LinkFile.Entry) -> (new: NewLink?, problems: [FieldProblem]) {
        var entry = entry
        guard let app = owner(of: entry) else {
            let problem = FieldProblem(
                "app",
                (entry.app.map { "This server has no app \($0)" } ?? "The line names no app")
                    + "; name an app of this server by its id or name, or give --app."
            )
            return (nil, entry.problems + [problem])
        }
        entry.translate(for: app.settings.links)
        remarks.add(entry, of: app.settings.links)
        do throws(FieldProblems) {
            var new = try LinkDraft.link(
                entry.slug,
                entry.fields,
                of: app,
                in: directory,
                at: WallClock.system.now(),
                random: .system,
                isArchived: entry.archivedAt != nil || entry.isArchived
            )
            let problem = Self.setMoments(of: entry, on: &new.link)
            let problems = entry.problems + (problem.map { [$0] } ?? [])
            return (problems.isEmpty ? new : nil, problems)
        } catch { return (nil, entry.problems + error.all) }
    }

    /// Returns the app that the line names, or else the only app with the line's package or bundle, or else ``app``.
    ///
    /// Nil if there is no such app, or if the line names an unknown app and `--app` is missing.
    private func owner(of entry: LinkFile.Entry) -> App? {
        let named = entry.app.map { text in
            directory.apps.first { $0.id.text == text || $0.settings.name == text }
        }
        // A line may name an app that does not exist here, as in an export of another server: only --app replaces it.
        if let named, named != nil || !isNamed { return named }
        guard let firebase = entry.firebase else { return app }
        let owners = directory.apps.filter { firebase.names($0.settings.links) }
        return owners.count == 1 ? owners.first : app
    }

    /// Sets the times of creation and archiving; returns the problem of a text that is not a time.
    private static func setMoments(of entry: LinkFile.Entry, on link: inout Link) -> FieldProblem? {
        if let createdAt = entry.createdAt {
            link = Link(
                id: link.id,
                app: link.app,
                slug: link.slug,
                settings: link.settings,
                createdAt: min(createdAt, link.createdAt),
                updatedAt: link.updatedAt
            )
        }
        if entry.isArchived { link.archivedAt = link.updatedAt }
        guard let text = entry.archivedAt else { return nil }
        link.archivedAt = TimeArgument.moment(text)
        guard link.archivedAt == nil else { return nil }
        return FieldProblem("archived_at", "archived_at must be a time such as 2027-01-31.")
    }

    private mutating func make(_ slice: [Draft]) async throws {
        do throws(LinkStoreError) {
            try await database.links.create(slice.map(\.new), by: .commandLine)
        } catch {
            guard case .slugTaken(let slug) = error else { throw error }
            guard slice.count > 1 else {
                if let draft = slice.first {
                    refusedCount += 1
                    outcomes[draft.index].problems = [
                        FieldProblem("slug", LinkStoreError.slugTaken(slug).advice ?? "")
                    ]
                }
                return
            }
            for draft in slice { try await make([draft]) }
            return
        }
        for draft in slice { outcomes[draft.index].id = draft.new.link.id }
        madeCount += slice.count
    }

    /// Deletes the created links, except those that were clicked in the meantime.
    private mutating func undo() async throws {
        for index in outcomes.indices {
            guard let id = outcomes[index].id else { continue }
            do throws(LinkStoreError) {
                try await database.links.delete(id, by: .commandLine)
            } catch {
                if error == .clicked { continue }
                guard error == .notFound else { throw error }
            }
            outcomes[index].id = nil
            madeCount -= 1
        }
    }
}

extension LinkFile.Entry {
    /// Translates the parameters of a Firebase link for an app.
    fileprivate mutating func translate(for app: AppLinks) {
        guard let firebase else { return }
        for (field, texts) in firebase.fields(of: app).all { fields[field] = texts }
        problems += firebase.problems(for: app)
        leftOut += firebase.leftOut(of: app).map(\.rawValue)
    }
}

/// Remarks about all links of a file, created or not.
struct ImportRemarks {
    private var leftOut: [String: Int] = [:]
    private var malformedTimes: [String: Int] = [:]
    private var strayHosts: [String: Int] = [:]

    /// Counts the columns of a line that were left out, and hosts that are not link hosts of its app.
    mutating func add(_ entry: LinkFile.Entry, of app: AppLinks) {
        for column in Set(entry.leftOut) { leftOut[column, default: 0] += 1 }
        for column in Set(entry.malformedTimes) { malformedTimes[column, default: 0] += 1 }
        guard let host = entry.host, !app.hosts.contains(where: { $0.text == host }) else { return }
        strayHosts[host, default: 0] += 1
    }

    /// The remarks, as sentences.
    var sentences: [String] {
        var sentences: [String] = []
        for (reason, counts) in [("a link has no such field", leftOut), ("it is not a time", malformedTimes)]
        where !counts.isEmpty {
            let columns = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) (\(Self.links($0.value)))" }
            sentences.append("Left out, because \(reason): \(columns.joined(separator: ", ")).")
        }
        for (host, count) in strayHosts.sorted(by: { $0.key < $1.key }) {
            // Only Firebase and Branch can change the DNS of these domains.
            let isForeign = [".page.link", ".app.link"].contains { host.hasSuffix($0) }
            sentences.append(
                "\(Self.links(count)) came from \(host), which is no link host of the app"
                    + (isForeign
                        ? " and can never lead here: the links work with the same slugs under the app's own link host."
                        : ": it leads here after a change of its DNS and \"afterlink apps set --link-host \(host)\". Until"
                            + " then, the links work with the same slugs under the app's own link host.")
            )
        }
        return sentences
    }

    static func links(_ count: Int) -> String { count == 1 ? "1 link" : "\(count) links" }
}
