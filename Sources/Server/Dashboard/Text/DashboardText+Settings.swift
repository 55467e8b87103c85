internal import Attribution

/// The pages Settings, the audit log, and what is held.
extension DashboardText {
    static let settings = "Settings"
    static let apps = "Apps"
    static let appExplained =
        "These settings are about links, landing pages, domain files and the click ids of ad networks; write one value"
        + " per line. `afterlink apps set` changes the others."
    static let clickIDs = "Click ids of ad networks"
    static let unknownPolicy = "must be off, keep or answer"
    static let save = "Save"
    static let conflict = "Changed meanwhile"
    static let changedMeanwhile =
        "Another request has changed these settings since you opened the form, so nothing was saved. The fields below differ"
        + " from what is stored now."
    static let saveEntered = "Replace what is stored"
    static let keepStored = "Keep what is stored"
    static let apiKey = "Key"
    static let apiKeys = "API keys"
    static let keyTable: TableText = [
        "Kind, app and last use of each key": ["Key", "Kind", "App", "Created", "Last used", "State"]
    ]
    static let kind = "Kind"
    static let label = "Note"
    static let expiry = "Expires"
    static let createKey = "Create a key"
    static let newKey = "New key"
    static let shownOnce = "Copy the key now: only this page shows it. The database stores only its SHA-256."
    static let revoke = "Revoke"
    static let noKey = "There is no such key. Reload the page of settings."
    static let noSuchApp = "There is no such app. Reload the page."
    static let keyNeedsApp =
        "must be the id of an app, as app_…, because only keys of the kinds admin and read are for all apps"
    static let unknownKind = "must be app, server, test, admin or read"
    static let wrongLabel = "may have up to 100 characters, and no control characters"
    static let wrongExpiry = "must be a day in the future"
    static let sessions = "Sessions"
    static let sessionTable: TableText = [
        "Open sessions of the dashboard": ["Signed in with", "Since", "Last used", "End"]
    ]
    static let thisSession = "this session"
    static let end = "End"
    static let endOthers = "End all other sessions"
    static let processSettings = "Settings of this process"
    static let settingTable: TableText = ["Values, and where each was set": ["Setting", "Value", "From"]]
    static let settingsAsCommand = "As a command, run with the service's flags, environment and file"

    static let auditLog = "Audit log"
    static let auditTable: TableText = [
        "Changes, the newest first": ["Time", "By", "Change", "App", "What", "Before → after"]
    ]
    static let change = "Change"
    static let actor = "By key, user or kind"
    static let olderChanges = "Older changes"
    static let noChanges = "No change is recorded with these properties."

    /// Returns the name of an app's setting as words, such as `iOS store ID` for `ios_store_id`.
    static func label(_ name: String) -> String {
        let names = ["ios": "iOS", "id": "ID", "ids": "IDs", "url": "URL"]
        let words = name.split(separator: "_").map { names[String($0)] ?? String($0) }.joined(separator: " ")
        return words.hasPrefix("iOS") ? words : words.prefix(1).uppercased() + words.dropFirst()
    }

    static func stored(_ text: String) -> String {
        text.isEmpty ? "Nothing is stored now." : "Stored now: \(text)"
    }

    static func meaning(of policy: ClickIDPolicy) -> String {
        switch policy {
        case .off: "off: not stored"
        case .keep: "keep: stored with the click"
        case .answer: "answer: stored, and sent to the app with its first launch"
        }
    }

    /// Returns an app's name, or the id of an app that no longer exists.
    static func name(of app: AppID, in directory: Directory) -> String {
        directory.app(app)?.settings.name ?? app.text
    }

    static func owner(of key: APIKey, in directory: Directory) -> String {
        key.app.map { DashboardText.name(of: $0, in: directory) } ?? allApps
    }

    static func state(of key: APIKey, at now: Timestamp) -> String {
        if let revokedAt = key.revokedAt { return "revoked \(time(revokedAt))" }
        guard let expiresAt = key.expiresAt else { return "valid" }
        return now < expiresAt ? "valid until \(time(expiresAt))" : "expired \(time(expiresAt))"
    }

    static func actor(_ actor: AuditActor, in directory: Directory) -> String {
        switch actor {
        case .key(let id), .session(let id?):
            guard let label = directory.key(id)?.label, !label.isEmpty else { return id.text }
            return "\(label) (\(id.text))"
        case .session(nil): return "one-time link"
        case .command(let user): return "command of \(user)"
        }
    }

    /// Returns the word of an action, such as `server_key.rotate`, as words for people.
    static func action(_ word: String) -> String { words(word.replacing(".", with: ": ")) }

    static func change(from before: String?, to after: String?) -> String {
        "\(before ?? "–") → \(after ?? "–")"
    }

    // What is held
    static let held = "What is held"
    static let heldNow: TableText = ["What is stored now": ["Table", "Rows", "Oldest"]]
    static let erase = "Erase"
    static let eraseExplained =
        "Deletes the clicks of one app that a value finds, and everything that refers to them. The next page shows the"
        + " number of rows before anything is deleted. Backups, archives of the database's log and exported files keep"
        + " their copies."
    static let erasures: TableText = [
        "Erasures of the last three years": ["Erasure", "Time", "App", "By", "Asked by", "Clicks", "Checks"]
    ]
    static let noErasures = "Nothing was erased in the last three years."
    static let foundBy = "Found by"
    static let value = "Value"
    static let showWhat = "Show what would be erased"
    static let eraseTitle = "Erase these rows?"
    static let nothingHeld = "Nothing is stored under this value."
    static let cannotUndo = "This cannot be undone."
    static let keep = "Keep everything"
    static let erased = "Erased"
    static let back = "Back to what is held"
    static let rows: TableText = ["Rows": ["Table", "Rows"]]
    static let logNotCleared =
        "The write-ahead log still has copies, because other processes were reading. Erase again when no other process"
        + " is reading."

    static func recordedAs(_ erasure: Erasure) -> String { "The erasure is recorded as \(erasure.id.text)." }

    static func name(of kind: SubjectKind) -> String {
        switch kind {
        case .click: "Click id"
        case .fingerprint: "Fingerprint"
        case .install: "Install id"
        case .user: "User of events"
        case .address: "Address or network"
        }
    }
}
