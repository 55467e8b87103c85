/// A link that released clients can open: never one that they would lose.
public struct DeepLinkURL: Hashable, Sendable {
    /// ASCII; what was not is percent-encoded. At most 2048 characters as it came.
    public let text: String

    /// A link that passed the checks before, as a store gives it back.
    public init(stored text: String) {
        self.text = text
    }
}
