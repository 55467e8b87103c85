public import Attribution

/// A change of the dashboard's sessions.
public enum SessionChange: Sendable {
    /// Stores a session, and deletes the sessions and sign-in links that ended before its start.
    case start(DashboardSession)
    /// Stores a session in place of a valid sign-in link; ``Written/flag(_:)`` is false if there is no such link.
    case startByLink(DashboardSession, KeyDigest)
    case createLink(SignInLink)
    case noteUse(KeyDigest, at: Timestamp)
    case end(KeyDigest, by: AuditActor)
    /// Deletes all sessions except one.
    case endAll(but: KeyDigest, by: AuditActor)
    /// Stores the addresses at which this server serves the dashboard, separated by blanks; an empty text deletes them.
    case setDashboard(String)
}

/// The reads of the dashboard's sessions.
public protocol SessionRows {
    associatedtype Failure: Error

    func session(_ digest: KeyDigest) throws(Failure) -> SessionRecord?
    /// Returns all sessions, the newest first.
    func sessions() throws(Failure) -> [SessionRecord]
    /// Returns the addresses of each running server's dashboard, separated by blanks.
    func dashboards() throws(Failure) -> [(server: Int64, url: String)]
}

extension WriteTransaction {
    func perform(_ change: SessionChange) throws(Failure) -> Written {
        switch change {
        case .start(let session): try start(session)
        case .startByLink(let session, let link):
            guard try writer.takeSignInLink(link, expiringAfter: session.createdAt) else {
                return .flag(false)
            }
            try start(session)
            return .flag(true)
        case .createLink(let link): try writer.insert(link)
        case .noteUse(let session, let now): try writer.setUse(ofSession: session, at: now)
        case .end(let digest, let actor):
            guard let session = try reader.session(digest)?.session else { return .done }
            try writer.removeSession(digest)
            try note(AuditedChange(.signOut, from: session.auditFields), by: actor)
        case .endAll(let digest, let actor):
            try writer.removeSessions(but: digest)
            try note(AuditedChange(.endOtherSessions), by: actor)
        case .setDashboard(let url): try writer.setDashboard(url)
        }
        return .done
    }

    private func start(_ session: DashboardSession) throws(Failure) {
        try writer.removeEnded(at: session.createdAt)
        try writer.insert(SessionRecord(session))
        try note(AuditedChange(.signIn, to: session.auditFields), by: .session(session.key))
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func start(_ session: DashboardSession) async throws(StoreError) {
        try await loop.write(.sessions(.start(session)))
    }

    public func start(_ session: DashboardSession, by link: KeyDigest) async throws(StoreError) -> Bool {
        guard case .flag(true) = try await loop.write(.sessions(.startByLink(session, link))) else {
            return false
        }
        return true
    }

    public func create(_ link: SignInLink) async throws(StoreError) {
        try await loop.write(.sessions(.createLink(link)))
    }

    public func noteUse(of session: KeyDigest, at now: Timestamp) async throws(StoreError) {
        try await loop.write(.sessions(.noteUse(session, at: now)))
    }

    public func end(_ session: KeyDigest, by actor: AuditActor) async throws(StoreError) {
        try await loop.write(.sessions(.end(session, by: actor)))
    }

    public func endAll(but session: KeyDigest, by actor: AuditActor) async throws(StoreError) {
        try await loop.write(.sessions(.endAll(but: session, by: actor)))
    }

    public func sessions() async throws(StoreError) -> [DashboardSession] {
        try await loop.readReport { reader throws(Backend.Reader.Failure) in
            try reader.sessions().map(\.session)
        }
    }

    public func setDashboard(_ url: String) async throws(StoreError) {
        try await loop.write(.sessions(.setDashboard(url)))
    }

    public func dashboards() async throws(StoreError) -> [(server: Int64, url: String)] {
        let stored = try await loop.readReport { reader throws(Backend.Reader.Failure) in
            try reader.dashboards()
        }
        return stored.flatMap { server, urls in
            urls.split(separator: " ").map { (server: server, url: String($0)) }
        }
    }

    public func session(_ digest: KeyDigest) async throws(StoreError) -> DashboardSession? {
        try await loop.readReport { reader throws(Backend.Reader.Failure) in
            try reader.session(digest)?.session
        }
    }
}
