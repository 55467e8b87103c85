public enum AuditSubject: IdentifiedSubject { public static let prefix = "aud" }
public typealias AuditID = Identifier<AuditSubject>

/// Who has made a change.
public enum AuditActor: Hashable, Sendable {
    /// A call of the admin API with this key.
    case key(KeyID)
    /// A session of the dashboard that this key has started; nil for a session that a one-time link started.
    case session(KeyID?)
    /// A command that this user of the system has run.
    case command(user: String)

    public init?(kind: String, name: String) {
        switch kind {
        case "key":
            guard let id = KeyID(name) else { return nil }
            self = .key(id)
        case "session": self = .session(KeyID(name))
        case "command": self = .command(user: name)
        default: return nil
        }
    }

    /// Reads a ``text``.
    public init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        self.init(kind: parts.first ?? "", name: parts.count > 1 ? parts[1] : "")
    }

    /// Kind and name, as in `key key_…`; the kind alone without a name.
    public var text: String { name.isEmpty ? kind : "\(kind) \(name)" }

    /// The word for the kind of actor.
    public var kind: String {
        switch self {
        case .key: "key"
        case .session: "session"
        case .command: "command"
        }
    }

    /// The id of the key or the name of the user; empty for a session of a one-time link.
    public var name: String {
        switch self {
        case .key(let id): id.text
        case .session(let id): id?.text ?? ""
        case .command(let user): user
        }
    }
}

/// What has been done; the raw value is the word on the wire and in the database, and its first part names the kind of
/// subject.
public enum AuditAction: String, CaseIterable, Sendable {
    case createApp = "app.create"
    case changeApp = "app.set"
    case createKey = "key.create"
    case revokeKey = "key.revoke"
    case createLink = "link.create"
    /// Several links of an app, created in one step.
    case importLinks = "link.import"
    case changeLink = "link.set"
    case archiveLink = "link.archive"
    case restoreLink = "link.restore"
    case deleteLink = "link.delete"
    case resetModel = "model.reset"
    case rotateServerKey = "server_key.rotate"
    case signIn = "session.start"
    case signOut = "session.end"
    case endOtherSessions = "session.end_others"
    /// The subject is the id of the ``Erasure``, which contains the counts.
    case erase = "data.erase"
    case createEndpoint = "postback.create"
    case changeEndpoint = "postback.set"
    case rotateEndpoint = "postback.rotate"
    /// Events were sent again.
    case replayEvents = "postback.replay"
}

/// A change as the audit log records it.
public struct AuditEntry: Equatable, Sendable {
    /// Contains the time of the change, so that entries are in the order of their ids.
    public let id: AuditID
    public let actor: AuditActor
    /// An ``AuditAction``, or the word of a later version of the program.
    public let action: String
    /// The app that was changed, or whose key or link was changed; nil for changes that do not concern one app.
    public let app: AppID?
    /// The id of what was changed; empty if only one thing of its kind exists, or if several things were changed.
    public let subject: String
    /// The changed fields before the change, as a JSON object.
    public let before: String
    /// The changed fields after the change, as a JSON object.
    public let after: String

    public init(id: AuditID, by actor: AuditActor, action: String, of change: AuditedChange) {
        self.id = id
        self.actor = actor
        self.action = action
        (app, subject) = (change.app, change.subject)
        (before, after) = (change.before.json, change.after.json)
    }

    public init(
        id: AuditID,
        actor: AuditActor,
        action: String,
        app: AppID?,
        subject: String,
        before: String,
        after: String
    ) {
        (self.id, self.actor, self.action) = (id, actor, action)
        (self.app, self.subject, self.before, self.after) = (app, subject, before, after)
    }

    public var at: Timestamp { id.time }

    /// The kind of what was changed, such as `app` or `link`.
    public var subjectKind: String { String(action.prefix { $0 != "." }) }
}

/// One change: what was done, to what, and the fields that differ.
public struct AuditedChange: Equatable, Sendable {
    public let action: AuditAction
    public let app: AppID?
    public let subject: String
    public let before: AuditFields
    public let after: AuditFields

    public init(
        _ action: AuditAction,
        app: AppID? = nil,
        of subject: String = "",
        from before: AuditFields = AuditFields(),
        to after: AuditFields = AuditFields()
    ) {
        self.action = action
        self.app = app
        self.subject = subject
        self.before = before.without(after)
        self.after = after.without(before)
    }

    /// Whether any field differs.
    public var changesFields: Bool { before != after }
}

/// Fields by their names on the wire, each with its texts.
public struct AuditFields: Equatable, Sendable {
    public private(set) var texts: [String: [String]] = [:]

    public init() {}

    /// Creates the fields; leaves out those without a text.
    public init(_ fields: [(name: String, texts: [String])]) {
        for field in fields where !field.texts.isEmpty { texts[field.name] = field.texts }
    }

    /// The fields that `other` does not have, or has with other texts.
    func without(_ other: AuditFields) -> AuditFields {
        var fields = self
        fields.texts = texts.filter { other.texts[$0.key] != $0.value }
        return fields
    }

    /// A JSON object with the names in their order; a field with several texts is an array.
    public var json: String {
        let members = texts.sorted { $0.key < $1.key }.map { name, texts in
            let values = texts.map(Self.quoted)
            let value = values.count == 1 ? values[0] : "[\(values.joined(separator: ","))]"
            return "\(Self.quoted(name)):\(value)"
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func quoted(_ text: String) -> String {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): quoted += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                quoted += "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8
            default: quoted.append(byte)
            }
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }
}

/// A query for entries of the audit log.
public struct AuditQuery: Equatable, Sendable {
    public var app: AppID?
    /// The kind or the name of the actor.
    public var actor: String?
    public var action: AuditAction?
    /// The start of the period, which is included; its end, ``until``, is not.
    public var since: Timestamp?
    public var until: Timestamp?
    /// Return only entries that are older than this one; nil for the first page.
    public var before: AuditID?
    public var limit: Int

    /// The possible sizes of a page.
    public static let limits = 1...1000
    public static let standardLimit = 100

    public init(limit: Int = AuditQuery.standardLimit) { self.limit = limit }

    /// Returns whether an entry matches the query's app, actor and action.
    public func matches(_ entry: AuditEntry) -> Bool {
        (app == nil || entry.app == app) && (action == nil || entry.action == action?.rawValue)
            && (actor == nil || entry.actor.kind == actor || entry.actor.name == actor)
    }
}

/// One page of the entries that match a query.
public struct AuditPage: Equatable, Sendable {
    /// The entries, newest first.
    public var entries: [AuditEntry]
    /// The ``AuditQuery/before`` of the next page; nil for the last one.
    ///
    /// A page may have fewer entries than its limit, or none, without being the last: one call reads a bounded number.
    public var next: AuditID?

    public init(entries: [AuditEntry], next: AuditID?) { (self.entries, self.next) = (entries, next) }
}

/// The store of the audit log.
///
/// Each change of an app, a key, a link, a postback endpoint, a model or a session, and each erasure, adds its own
/// entry.
public protocol AuditStore {
    func audit(_ query: AuditQuery) async throws(StoreError) -> AuditPage
    /// Records a change that was made outside of the database.
    func note(_ change: AuditedChange, by actor: AuditActor) async throws(StoreError)
}
