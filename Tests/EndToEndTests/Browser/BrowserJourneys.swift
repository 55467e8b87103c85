import Support
import Testing

/// A real browser opens a link, and the app on the same phone checks at its first launch.
///
/// The tests run one after the other, because they share a browser and a server whose responses depend on all clicks.
@Suite("A link in a real browser", .inBrowser, .linkStage, .serialized, .blocking(first: true))
struct BrowserJourneys {}
