/// A browser's session in the dashboard.
public struct DashboardSession: Equatable, Sendable {
    /// The digest of the cookie's text, which is not stored.
    public let digest: KeyDigest
    /// The key that signed in; nil for a session that a one-time link started.
    public let key: KeyID?
    public let createdAt: Timestamp
    /// When the session was last used, at most a minute too early.
    public var usedAt: Timestamp
    /// The end of the session, however much it is used.
    public let expiresAt: Timestamp

    /// A session ends after this time without use: 12 hours in milliseconds.
    public static let idleMilliseconds: Int64 = 43_200_000
    /// The longest time that a session lasts: 7 days in milliseconds.
    public static let maximumMilliseconds: Int64 = 604_800_000

    public init(
        digest: KeyDigest,
        key: KeyID?,
        createdAt: Timestamp,
        usedAt: Timestamp,
        expiresAt: Timestamp
    ) {
        (self.digest, self.key, self.createdAt) = (digest, key, createdAt)
        (self.usedAt, self.expiresAt) = (usedAt, expiresAt)
    }

    /// The session's name in lists: the start of its digest, which does not reveal the cookie.
    public var id: String { Hexadecimal.text(of: digest.bytes.prefix(8)) }

    /// Returns whether the session is valid and so is its key, if it has one.
    public func isOpen(in directory: Directory, at now: Timestamp) -> Bool {
        isValid(at: now) && key.map { directory.key($0)?.isValid(at: now) == true } ?? true
    }

    /// Returns whether the session has neither reached its end nor been idle for too long.
    public func isValid(at now: Timestamp) -> Bool {
        now < expiresAt && now < usedAt.advanced(byMilliseconds: Self.idleMilliseconds)
    }
}

/// A link that starts one session, as it is stored.
public struct SignInLink: Equatable, Sendable {
    /// The digest of the link's secret text, which is not stored.
    public let digest: KeyDigest
    public let expiresAt: Timestamp

    /// How long a new link is valid: a minute in milliseconds.
    public static let milliseconds: Int64 = 60_000

    public init(digest: KeyDigest, expiresAt: Timestamp) {
        self.digest = digest
        self.expiresAt = expiresAt
    }
}

/// The store of the dashboard's sessions, and of the links that start them.
public protocol SessionStore {
    /// Stores a session, and deletes the sessions and links that expired before its start.
    func start(_ session: DashboardSession) async throws(StoreError)

    /// Stores a session in place of the link that starts it.
    ///
    /// - Returns: false if the link is unknown, was used, or has expired when the session starts; nothing is stored then.
    func start(_ session: DashboardSession, by link: KeyDigest) async throws(StoreError) -> Bool

    func create(_ link: SignInLink) async throws(StoreError)

    func noteUse(of session: KeyDigest, at now: Timestamp) async throws(StoreError)

    /// Deletes a session; does nothing if the session has ended.
    func end(_ session: KeyDigest, by actor: AuditActor) async throws(StoreError)
    /// Deletes all sessions except one.
    func endAll(but session: KeyDigest, by actor: AuditActor) async throws(StoreError)
    /// Returns all sessions, the newest first; some may have ended.
    func sessions() async throws(StoreError) -> [DashboardSession]

    /// Returns a session, which may have ended; nil for an unknown one.
    ///
    /// The call reads the database, so all servers agree on a session that one of them has started or ended.
    func session(_ digest: KeyDigest) async throws(StoreError) -> DashboardSession?

    /// Stores the addresses at which this server serves the dashboard, separated by blanks, until the server stops.
    ///
    /// An empty text deletes the server's addresses; in a database in a file, it deletes the addresses of all
    /// processes.
    func setDashboard(_ urls: String) async throws(StoreError)
    /// Returns the addresses at which the running servers serve the dashboard, by the numbers of the servers.
    ///
    /// The first address of a server is the one to show. All processes that serve a database in a file have the number 0,
    /// and the process that started last comes first. The address of a killed process remains until the next start.
    func dashboards() async throws(StoreError) -> [(server: Int64, url: String)]
}
