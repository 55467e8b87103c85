/// The address of an app in Google's store that carries a click's token to the first launch.
///
/// Source: the Play Install Referrer documentation; a referrer that is too long is lost as a whole.
public struct PlayStoreLink: Equatable, Sendable {
    public let text: String

    /// The whole link has fewer bytes than this.
    public static let byteLimit = 500

    private static let start = "https://play.google.com/store/apps/details?id="

    /// Nil for what is no package name.
    ///
    /// - Parameters:
    ///   - package: the app's application id, `com.example.shop`.
    ///   - token: the click's token; it stands first, so that nothing that is cut off takes it along.
    ///   - utm: what the store's own reports shall say, in the order of its importance. An item for which there is no
    ///     room is left out as a whole: half a campaign's name would be counted as another campaign.
    public init?(package: String, token: ClickToken, utm: [QueryItem] = []) {
        guard let text = Self.text(package, token.text, utm) else { return nil }
        self.text = text
    }

    /// What stands for the token in ``template(package:utm:)``.
    public static let place = "{al}"

    /// The link for a page that gets the token later, and puts it in where ``place`` stands.
    ///
    /// Parameters as of ``init(package:token:utm:)``; nil for what is no package name.
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
            // Escaped twice: in the referrer, where a value may hold what separates items, and in the link.
            let more = PercentEncoding.queryValue("&\(escaped(item.name))=\(escaped(item.value))")
            if text.count + spare + more.count < byteLimit { text += more }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func escaped(_ text: String) -> String {
        String(decoding: PercentEncoding.queryValue(text), as: UTF8.self)
    }

    /// Two segments or more of letters, digits and underscores, a letter first in each (Android's application ids).
    package static func isPackage(_ text: String) -> Bool {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && segments.count >= 2
            && segments.allSatisfy { segment in
                segment.first?.isASCIILetter == true
                    && segment.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") }
            }
    }
}
