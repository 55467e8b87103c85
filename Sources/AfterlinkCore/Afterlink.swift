#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The connection of an app to its Afterlink server.
///
/// Create one and keep it as long as the app runs.
///
/// The library sends the app key and a random identifier of this installation with each request, and in addition:
///
/// - ``firstLaunch(within:)`` sends ``Signals``, and a token that ``opened(_:)`` or ``pasted(_:)`` received, until the
///   server has responded once. After a response without a match, a new token causes another such request.
/// - ``track(_:)`` sends the event.
/// - ``forget()`` sends the request to erase.
///
/// All calls may be made from any thread, never throw, and do their work outside the main actor.
public final class Afterlink: Sendable {
    let engine: Engine

    package init(_ configuration: Configuration) { engine = Engine(configuration) }

    /// Returns the result of this installation's first launch.
    ///
    /// Call it at each launch.
    ///
    /// At a first launch, the library asks the server, and this call returns within the limit. After a failure the
    /// library asks again, also at later launches, until the server responds. It stops after five launches, and after
    /// seven days if it has asked at two launches by then. Exactly one call returns the match: if two calls wait, the
    /// other one returns ``FirstLaunch/settled``.
    public func firstLaunch(within limit: TimeLimit = .seconds(3)) async -> FirstLaunch {
        await engine.firstLaunch(within: limit)
    }

    /// The links to open: those that the app passed to ``opened(_:)``, and the first launch's link if it came too late for
    /// ``firstLaunch(within:)``.
    ///
    /// Each link is returned once. Iterate in one place, for as long as the app runs.
    public var links: Links { Links(engine: engine) }

    /// Receives a link that opened the app: a universal link, an app link or a link with the app's scheme.
    ///
    /// ``links`` returns the link. If the link contains a token of Afterlink (`al`) and the first launch has no result
    /// yet, the token goes to the server. Call this before ``firstLaunch(within:)`` if both are due.
    public func opened(_ url: URL) async { await engine.opened(url) }

    /// Receives a text that the person pasted, and returns whether the text is a link of this app with a token.
    ///
    /// Only the token in the link goes to the server. If a call of ``firstLaunch(within:)`` is waiting, that call
    /// returns the match; otherwise ``links`` returns it.
    @discardableResult public func pasted(_ text: String) async -> Bool { await engine.pasted(text) }

    /// Returns whether to show a paste button: at most once for an installation, and only while there is no match.
    ///
    /// `isLinkProbable` is whether the system reports a web address in the pasteboard.
    public func shouldOfferPaste(isLinkProbable: Bool) async -> Bool {
        await engine.shouldOfferPaste(isLinkProbable)
    }

    /// The match of this installation, also after ``firstLaunch(within:)`` has returned it; nil if there is none.
    public var match: Link? { get async { await engine.match } }

    /// The random identifier of this installation; events that your own server sends can name the installation by it.
    ///
    /// Nil while the disk cannot store it, and after the person opted out.
    public var installID: String? { get async { await engine.installID } }

    /// Stores an event on disk and sends it soon.
    ///
    /// Events arrive in order, and each counts once.
    public func track(_ event: Event) async { await engine.track(event) }

    /// Sends the stored events now, and returns whether no event is left.
    @discardableResult public func flush() async -> Bool { await engine.flush() }

    /// Stops all requests and deletes the stored events and tokens.
    ///
    /// The choice is stored, so it also applies to later launches.
    public func optOut() async { await engine.setOptedOut(true) }

    /// Permits requests again after ``optOut()``.
    public func optIn() async { await engine.setOptedOut(false) }

    /// Opts out, deletes what is stored on the device, and asks the server to erase what it knows of this installation.
    ///
    /// - Returns: whether the server has confirmed. If not, the next launches ask again.
    @discardableResult public func forget() async -> Bool { await engine.forget() }
}

/// The links that an app is to open, as an asynchronous sequence without end.
public struct Links: AsyncSequence, Sendable {
    public typealias Element = Link

    let engine: Engine

    public struct AsyncIterator: AsyncIteratorProtocol {
        let engine: Engine

        /// Returns the next link; nil if the task is cancelled.
        public mutating func next() async -> Link? { await engine.nextLink() }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(engine: engine) }
}
