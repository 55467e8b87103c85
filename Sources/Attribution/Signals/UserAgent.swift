/// What a user agent says about the device behind it.
///
/// What it hides stays unknown.
public struct UserAgent: Equatable, Sendable {
    public let platform: Platform
    /// As the system itself names it: `iPhone`, `iPad`, `iPod touch`, or an Android device's model.
    public let model: String?
    public let osVersion: OSVersion?

    /// How many bytes of an agent are read; no real one is longer.
    private static let maximumLength = 2048

    /// - Parameters:
    ///   - text: the header's value.
    ///   - touchPoints: the device's touch points, where a script told them: an iPad asks for desktop pages by
    ///     calling itself a Macintosh, and is known by having more than one.
    public init(_ text: String, touchPoints: Int? = nil) {
        self.init(AgentText(text.utf8.span.extracting(first: Self.maximumLength)), touchPoints: touchPoints)
    }

    /// As for a text, from the bytes of a request.
    public init(_ text: Span<UInt8>) {
        self.init(AgentText(text.extracting(first: Self.maximumLength)), touchPoints: nil)
    }

    private init(_ text: AgentText, touchPoints: Int?) {
        if let device = IOSAgent(text, touchPoints: touchPoints) {
            platform = .ios
            model = device.model
            osVersion = device.osVersion
        } else if let device = AndroidAgent(text) {
            platform = .android
            model = device.model
            osVersion = device.osVersion
        } else {
            platform = text.bytes.allSatisfy(\.isBlank) ? .unknown : .other
            model = nil
            osVersion = nil
        }
    }
}
