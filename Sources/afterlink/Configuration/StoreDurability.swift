/// The failures that an acknowledged write survives.
///
/// The raw value is the word of the setting.
package enum StoreDurability: String, Sendable {
    /// A power cut.
    case full
    /// The end of the process; a power cut may take the last seconds.
    case relaxed
}
