import Attribution
import Testing

/// Somebody's way from a link to the first launch.
struct Journey: Sendable, CustomTestStringConvertible {
    /// What the page does without a tap.
    enum NextStep: Sendable {
        case appStore
        /// The app, or else Google's store.
        case intent
        case wait
    }

    /// The link's slug.
    let name: String
    let title: String
    var visitor: BrowserVisitor
    /// What is stored of the click's signals.
    let signals: String
    let next: NextStep
    /// As the page shows them, from the top.
    let buttons: String
    var phone: Handset
    /// What the released SDK on the phone hashes.
    let form: FingerprintForm
    var isRightToLeft = false

    /// The language of the page: English where it does not speak the visitor's.
    var pageLanguage: String { ["hi", "in"].contains(phone.language) ? "en" : phone.language }

    var testDescription: String { title }

    static let all = apple + android

    static func named(_ name: String) throws -> Journey { try #require(all.first { $0.name == name }) }

    /// The same phone where none of the others is, so that its hash is nobody else's.
    func moved(to timezone: String) -> Journey {
        var journey = self
        journey.visitor.timezone = timezone
        journey.phone.timezone = timezone
        return journey
    }
}
