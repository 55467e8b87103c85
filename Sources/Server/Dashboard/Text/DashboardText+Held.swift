internal import Attribution

/// The sentences of the page on what is stored.
extension DashboardText {
    static let held = "What is held"
    static let heldNow = "What is stored now"
    static let heldHeadings = ["Table", "Rows", "Oldest"]
    static let erase = "Erase"
    static let eraseExplained =
        "Deletes the clicks of one app that a value finds, and everything that refers to them. The next page shows the"
        + " number of rows before anything is deleted. Backups, archives of the database's log and exported files keep"
        + " their copies."
    static let erasures = "Erasures of the last three years"
    static let erasureHeadings = ["Erasure", "Time", "App", "By", "Asked by", "Clicks", "Checks"]
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
    static let rows = "Rows"
    static let countHeadings = ["Table", "Rows"]
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
