/// The address of an app in Google's store with a click's token for the first launch.
///
/// Source: the Play Install Referrer documentation; a referrer that is too long is lost as a whole.
public struct PlayStoreLink: Equatable, Sendable {
    public let text: String

    /// The limit of the whole link's length in bytes, exclusive.
    public static let byteLimit = 500

    private static let start = "https://play.google.com/store/apps/details?id="

    /// Returns nil for a text that is no package name.
    ///
    /// - Parameters:
    ///   - package: the app's application id, `com.example.shop`.
    ///   - token: the click's token; it comes first, so that a cut does not remove it.
    ///   - utm: the items for the store's own reports, the most important first. An item that does not fit is
    ///     omitted, because half a campaign's name would count as another campaign.
    public init?(package: String, token: ClickToken, utm: [QueryItem] = []) {
        guard let text = Self.text(package, token.text, utm) else { return nil }
        self.text = text
    }

    /// The placeholder for the token in ``template(package:utm:)``.
    public static let place = "{al}"

    /// Returns the link with the placeholder ``place``, for a page that gets the token later.
    ///
    /// The parameters are those of ``init(package:token:utm:)``; nil for a text that is no package name.
    public static func template(package: String, utm: [QueryItem] = []) -> String? {
        text(package, place, utm)
    }

    private static func text(_ package: String, _ token: String, _ utm: [QueryItem]) -> String? {
        guard isPackage(package) else { return nil }
        var text = Array("\(start)\(package)&referrer=".utf8)
        text += PercentEncoding.queryValue("\(ClickReference.linkName)=")
        text += token.utf8
        let spare = ClickToken.textLength - token.utf8.count
        for item in utm where !item.name.isEmpty && !item.value.isEmpty {
            // Items are escaped twice: for the referrer, where a value may contain a separator, and for the
            // link.
            let more = PercentEncoding.queryValue("&\(escaped(item.name))=\(escaped(item.value))")
            if text.count + spare + more.count < byteLimit { text += more }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func escaped(_ text: String) -> String {
        String(decoding: PercentEncoding.queryValue(text), as: UTF8.self)
    }

    /// Returns whether a text has two segments or more of letters, digits and underscores, each starting with
    /// a letter (Android's application ids).
    package static func isPackage(_ text: String) -> Bool {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && segments.count >= 2
            && segments.allSatisfy { segment in
                segment.first?.isASCIILetter == true
                    && segment.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") }
            }
    }
}
