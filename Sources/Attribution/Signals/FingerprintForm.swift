/// Which components a client hashes into its fingerprint, and in which spelling.
///
/// The raw value is the word in the database.
public enum FingerprintForm: String, CaseIterable, Sendable {
    /// iOS SDK 1.7.0–1.7.1: model, OS version, portrait screen in points, time zone, language.
    case a = "A"
}
