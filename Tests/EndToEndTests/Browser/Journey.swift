import Attribution
import Testing

/// A visitor's way from a link to the first launch.
struct Journey: Sendable, CustomTestStringConvertible {
    /// What the page does before any tap.
    enum NextStep: Sendable {
        case appStore
        /// The page opens an intent URL: the app, or Google's store if the app is not installed.
        case intent
        case wait
    }

    /// The link's slug.
    let name: String
    let title: String
    var visitor: BrowserVisitor
    /// The click's signals, as the database must contain them.
    let signals: String
    let next: NextStep
    /// The buttons of the page, from the top.
    let buttons: String
    var phone: Handset
    /// The form that the released SDK on the phone hashes.
    let form: FingerprintForm
    var isRightToLeft = false

    /// The language of the page: English if the page is not translated into the visitor's language.
    var pageLanguage: String { ["hi", "in"].contains(phone.language) ? "en" : phone.language }

    var testDescription: String { title }

    static let all = apple + android

    static func named(_ name: String) throws -> Journey { try #require(all.first { $0.name == name }) }

    /// Returns the same journey with its phone in another time zone, so that no other phone has the phone's hash.
    func moved(to timezone: String) -> Journey {
        var journey = self
        journey.visitor.timezone = timezone
        journey.phone.timezone = timezone
        return journey
    }
}
