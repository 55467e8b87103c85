public import Attribution

/// The reads of the audit log.
public protocol AuditRows {
    associatedtype Failure: Error

    /// Passes the entries before an id to `body`, newest first, until `body` returns false or the ids are below `end`.
    func audit(before id: AuditID, downTo end: AuditID, _ body: (AuditEntry) -> Bool) throws(Failure)
}

/// Writes a change and its entry in the audit log in one transaction.
///
/// Each entry is made from the change and from the rows as they were before it, which are read in the same
/// transaction. So no caller can omit or forge an entry.
extension WriteTransaction {
    func perform(_ change: DirectoryChange, by actor: AuditActor) throws(Failure) -> Written {
        let before = try reader.directorySnapshot().directory
        let refusal =
            switch change {
            case .createApp(let app, let keys): try writer.create(app, with: keys)
            case .updateApp(let app, let former, let settings):
                if let former, let stored = before.app(app)?.settings, stored != former {
                    StoreError(.conflict, "the app has other settings by now")
                } else {
                    try writer.update(app, to: settings)
                }
            case .createKey(let key): try writer.create(key)
            case .revokeKey(let key, let now): try writer.revoke(key, at: now)
            }
        if let refusal {
            // Another process may have changed the apps or keys, and the caller may have an older copy.
            state.noteDirectoryChange()
            return .refused(refusal)
        }
        for change in change.audited(before) { try note(change, by: actor) }
        memory.values.changesDirectory = true
        return .done
    }

    func perform(_ change: LinkChange, by actor: AuditActor) throws(Failure) -> Written {
        var before: Link?
        switch change {
        case .create: break
        case .update(let link, _): before = try reader.wholeLink(link.id)
        case .delete(let link): before = try reader.wholeLink(link)
        }
        let refusal =
            switch change {
            case .create(let links): try writer.create(links)
            case .update(let link, let earlier): try writer.update(link, ifUpdatedAt: earlier)
            case .delete(let link): try writer.delete(link)
            }
        if let refusal { return .linkRefused(refusal) }
        for change in change.audited(before) { try note(change, by: actor) }
        try publish(change, before: before)
        return .done
    }

    /// Writes an entry; skips a change that leaves all fields as they were, unless its action is always noted.
    func note(_ change: AuditedChange, by actor: AuditActor) throws(Failure) {
        let isAlways = change.action.isAlwaysNoted
        guard isAlways || change.changesFields else { return }
        let id = memory.nextAudit(at: state.configuration.clock.now(), random: state.configuration.random())
        let entry = AuditEntry(id: id, by: actor, action: change.action.rawValue, of: change)
        try writer.insert(AuditRecord(entry))
    }
}

extension AuditAction {
    /// Whether the action is a change even if no field differs.
    fileprivate var isAlwaysNoted: Bool {
        switch self {
        case .resetModel, .rotateServerKey, .signIn, .signOut, .endOtherSessions, .erase, .rotateEndpoint,
            .replayEvents:
            true
        default: false
        }
    }
}

extension TransactionMemory {
    /// Returns the identifier of the next entry; within a millisecond, identifiers increase in the order of the writes.
    mutating func nextAudit(at now: Timestamp, random: UInt64) -> AuditID {
        let first = UInt64(max(0, now.milliseconds)) << 16
        // After the clock jumped ahead and back, correct times matter more than the order of entries.
        let isNear = numbers.audit >= first && numbers.audit - first < 1000 << 16
        numbers.audit = isNear ? numbers.audit + 1 : first
        return AuditID(high: numbers.audit, low: random)
    }
}

extension DirectoryChange {
    /// Returns the entries of the change; `before` has the apps and keys as they were before it.
    fileprivate func audited(_ before: Directory) -> [AuditedChange] {
        switch self {
        case .createApp(let app, let keys):
            let fields = app.settings.auditFields
            return [AuditedChange(.createApp, app: app.id, of: app.id.text, to: fields)]
                + keys.map { AuditedChange(.createKey, app: $0.app, of: $0.id.text, to: $0.auditFields) }
        case .updateApp(let id, _, let settings):
            let former = before.app(id)?.settings.auditFields ?? AuditFields()
            return [AuditedChange(.changeApp, app: id, of: id.text, from: former, to: settings.auditFields)]
        case .createKey(let key):
            return [AuditedChange(.createKey, app: key.app, of: key.id.text, to: key.auditFields)]
        case .revokeKey(let id, let now):
            guard let key = before.key(id), key.revokedAt == nil else { return [] }
            var revoked = key
            revoked.revokedAt = now
            return [
                AuditedChange(
                    .revokeKey,
                    app: key.app,
                    of: id.text,
                    from: key.auditFields,
                    to: revoked.auditFields
                )
            ]
        }
    }
}

extension LinkChange {
    /// Returns the entries of the change; `before` is the link as it was before the change.
    fileprivate func audited(_ before: Link?) -> [AuditedChange] {
        switch self {
        case .create(let links) where links.count == 1:
            return links.map {
                AuditedChange(.createLink, app: $0.link.app, of: $0.link.id.text, to: $0.link.auditFields)
            }
        case .create(let links):
            let apps = Dictionary(grouping: links.map(\.link), by: \.app).sorted { $0.key < $1.key }
            return apps.map { app, links in
                let ends = [links.first, links.last].compactMap { $0?.slug.text }
                let fields = AuditFields([
                    (name: "count", texts: ["\(links.count)"]), (name: "first_and_last", texts: ends),
                ])
                return AuditedChange(.importLinks, app: app, to: fields)
            }
        case .update(let link, _): return [before?.change(to: link)].compactMap(\.self)
        case .delete(let id):
            let fields = before?.auditFields ?? AuditFields()
            return [AuditedChange(.deleteLink, app: before?.app, of: id.text, from: fields)]
        }
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func audit(_ query: AuditQuery) async throws(StoreError) -> AuditPage {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in try reader.page(query) }
    }

    public func note(_ change: AuditedChange, by actor: AuditActor) async throws(StoreError) {
        try await loop.write(.audit(change, by: actor))
    }
}

extension AuditRows {
    fileprivate func page(_ query: AuditQuery) throws(Failure) -> AuditPage {
        var walk = PageWalk<AuditEntry, AuditID>(limit: query.limit, rowLimit: 20_000)
        let newest = AuditID(high: UInt64(Int64.max), low: 0)
        // Databases store the lower half as a signed integer; `1 << 63` is the lowest one.
        let until = query.until.map { AuditID(high: Self.first(at: $0), low: 1 << 63) } ?? newest
        let end = AuditID(high: query.since.map(Self.first) ?? 0, low: 0)
        try audit(before: min(until, query.before ?? newest), downTo: end) { entry in
            walk.add(query.matches(entry) ? entry : nil, at: entry.id)
        }
        return AuditPage(entries: walk.elements, next: walk.next)
    }

    private static func first(at time: Timestamp) -> UInt64 {
        UInt64(min(max(0, time.milliseconds), 1 << 47 - 1)) << 16
    }
}

/// Deletes entries of the audit log after the retention that the operator has set, and old records of erasures.
public struct AuditJob<Reader: JobReader>: Job {
    public let name = JobName.audit
    public let share = 1.0 / 8

    private let context: JobContext<Reader>
    private static var interval: UInt64 { 60_000_000_000 }
    private static var limit: Int { 500 }

    public init(_ context: JobContext<Reader>) { self.context = context }

    public mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        guard let now = context.clock.settledNow() else { return .after(Self.interval) }
        let seconds = context.state.configuration.auditRetentionSeconds
        let before = now.advanced(byMilliseconds: -seconds * 1000)
        let erasedBefore = now.advanced(byMilliseconds: -Erasure.keptMilliseconds)
        let step = JobStep.audit(before: before, erasedBefore: erasedBefore, limit: Self.limit)
        guard case .flag(true) = try context.queue.perform(.job(step)) else { return .after(Self.interval) }
        return .more
    }
}
