/// A click or a launch that has happened, with what the server was told of it, as hashes.
///
/// Where it comes from is not the replay's concern: a trace, whose texts are hashed when they are read, or a database,
/// which holds nothing but keyed hashes. Equal texts have equal hashes; that is all that matching needs.
public enum RecordedEvent: Equatable, Sendable {
    case click(RecordedClick)
    case launch(RecordedLaunch)

    public var at: Timestamp {
        switch self {
        case .click(let click): max(click.at, click.recordedAt ?? click.at)
        case .launch(let launch): launch.at
        }
    }
}

extension RecordedEvent {
    /// What names and destinations are compared by: the first word of the SHA-256 of a text.
    public static func hash(_ text: String) -> UInt64 { Fingerprint(of: text).words.0 }
}
