import Support
import Testing

<<<<<<< HEAD
/// A real browser opens a link, and the app on the same phone checks at its first launch.
///
/// The tests run one after the other, because they share a browser and a server whose responses depend on all clicks.
=======
/// Tests that open a link in a real browser, and then launch the app on the same phone for the first time.
///
/// They run one after another: they share a browser, and a server whose responses depend on earlier requests.
>>>>>>> tests
@Suite(
    "A link in a real browser",
    .enabled(if: Chromium.isThere, "no Chromium is here; AFTERLINK_TEST_BROWSER names one"),
    .linkStage,
    .serialized,
    .blocking
)
struct BrowserJourneys {}
