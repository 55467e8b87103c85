/// A click or a launch that has happened, with what the server was told of it, as hashes.
///
/// Where it comes from is not the replay's concern: a trace, whose texts are hashed when they are read, or a database,
/// which holds nothing but keyed hashes. Equal texts have equal hashes; that is all that matching needs.
public enum RecordedEvent: Equatable, Sendable {
    case click(RecordedClick)
    case launch(RecordedLaunch)

    public var at: Timestamp {
        switch self {
        case .click(let click): click.at
        case .launch(let launch): launch.at
        }
    }
}

/// How texts become the hashes that recorded events hold.
///
/// Nothing of it is stored; that a database's hashes are keyed and these are not makes no difference to a replay.
extension RecordedEvent {
    /// The first word of the SHA-256 of a text.
    public static func hash(_ text: String) -> UInt64 { Fingerprint(of: text).words.0 }
}
