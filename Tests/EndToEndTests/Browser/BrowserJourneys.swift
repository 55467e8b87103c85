import Support
import Testing

/// A link is opened in a real browser, and the app on the same phone asks for the first time.
///
/// One after the other: they share a browser, and a server whose answers depend on what else it has heard.
@Suite(
    "A link in a real browser",
    .enabled(if: Chromium.isThere, "no Chromium is here; AFTERLINK_TEST_BROWSER names one"),
    .linkStage,
    .serialized,
    .blocking
)
struct BrowserJourneys {}
