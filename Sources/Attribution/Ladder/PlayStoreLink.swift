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
        guard Self.isPackage(package) else { return nil }
        var text = Array("\(Self.start)\(package)&referrer=".utf8)
        text += PercentEncoding.queryValue("\(ClickReference.linkName)=\(token.text)")
        for item in utm where !item.name.isEmpty && !item.value.isEmpty {
            // Escaped twice: in the referrer, where a value may hold what separates items, and in the link.
            let more = PercentEncoding.queryValue("&\(Self.escaped(item.name))=\(Self.escaped(item.value))")
            if text.count + more.count < Self.byteLimit { text += more }
        }
        self.text = String(decoding: text, as: UTF8.self)
    }

    private static func escaped(_ text: String) -> String {
        String(decoding: PercentEncoding.queryValue(text), as: UTF8.self)
    }

    /// Two segments or more of letters, digits and underscores, a letter first in each (Android's application ids).
    static func isPackage(_ text: String) -> Bool {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && segments.count >= 2
            && segments.allSatisfy { segment in
                segment.first?.isASCIILetter == true
                    && segment.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") }
            }
    }
}
