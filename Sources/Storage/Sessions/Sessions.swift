public import Attribution

/// A change of the dashboard's sessions.
public enum SessionChange: Sendable {
    /// Stores a session, and deletes the sessions and links that have ended when it starts.
    case start(DashboardSession)
    /// Stores a session in place of a valid link; ``Written/flag(_:)`` is false if there is none.
    case startByLink(DashboardSession, KeyDigest)
    case createLink(SignInLink)
    case noteUse(KeyDigest, at: Timestamp)
    case end(KeyDigest)
}

/// The reads of the dashboard's sessions.
public protocol SessionRows {
    associatedtype Failure: Error

    func session(_ digest: KeyDigest) throws(Failure) -> SessionRecord?
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
        case .end(let session): try writer.removeSession(session)
        }
        return .done
    }

    private func start(_ session: DashboardSession) throws(Failure) {
        try writer.removeEnded(at: session.createdAt)
        try writer.insert(SessionRecord(session))
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

    public func end(_ session: KeyDigest) async throws(StoreError) {
        try await loop.write(.sessions(.end(session)))
    }

    public func session(_ digest: KeyDigest) async throws(StoreError) -> DashboardSession? {
        try await loop.readReport { reader throws(Backend.Reader.Failure) in
            try reader.session(digest)?.session
        }
    }
}
