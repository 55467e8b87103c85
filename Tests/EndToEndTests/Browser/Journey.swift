import Attribution
import Testing

<<<<<<< HEAD
/// A visitor's way from a link to the first launch.
=======
/// A visitor's path from a link to the first launch.
>>>>>>> tests
struct Journey: Sendable, CustomTestStringConvertible {
    /// The page's action without a tap.
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
    /// The stored signals of the click.
    let signals: String
    let next: NextStep
    /// The buttons of the page, from the top.
    let buttons: String
    var phone: Handset
    /// The form that the released SDK on the phone hashes.
    let form: FingerprintForm
    var isRightToLeft = false

<<<<<<< HEAD
    /// The language of the page: English if it lacks the visitor's.
=======
    /// The language of the page: English if it does not have the visitor's.
>>>>>>> tests
    var pageLanguage: String { ["hi", "in"].contains(phone.language) ? "en" : phone.language }

    var testDescription: String { title }

    static let all = apple + android

    static func named(_ name: String) throws -> Journey { try #require(all.first { $0.name == name }) }

<<<<<<< HEAD
    /// Returns the same phone in another time zone, so that no other phone has its hash.
=======
    /// Returns the same phone in a time zone of its own, so that no other phone has its hash.
>>>>>>> tests
    func moved(to timezone: String) -> Journey {
        var journey = self
        journey.visitor.timezone = timezone
        journey.phone.timezone = timezone
        return journey
    }
}
