/// The longest times after a click in which an app credits launches to the click, by the method that recognises them.
///
/// The database stores only the click's own window, so a change of these windows applies to stored clicks too.
public struct MethodWindows: Equatable, Sendable {
    /// For matches by fingerprint; nil for the click's own window.
    public var fingerprint: AttributionWindow?
    /// For tokens, click ids and advertising ids; nil for the click's own window.
    public var deterministic: AttributionWindow?

    public init(fingerprint: AttributionWindow? = nil, deterministic: AttributionWindow? = nil) {
        (self.fingerprint, self.deterministic) = (fingerprint, deterministic)
    }

    /// Returns the window that applies to a click whose own window is `own`: the smaller one of the two.
    public func window(_ own: AttributionWindow, by method: AttributionMethod) -> AttributionWindow {
        own.limited(to: method.confidence == nil ? fingerprint : deterministic)
    }

    /// Returns the last time at which a launch may be credited to a click by a method.
    public func end(of click: Click.Facts, by method: AttributionMethod) -> Timestamp {
        window(click.window, by: method).end(ofClickAt: click.clickedAt)
    }

    /// Returns the last time at which a click can be found by its fingerprint.
    public func fingerprintEnd(of click: Click.Facts) -> Timestamp { end(of: click, by: .fingerprint) }
}

extension AttributionWindow {
    /// Returns the smaller one of two windows; this window if the other one is nil.
    public func limited(to other: AttributionWindow?) -> AttributionWindow {
        other.map { $0.seconds < seconds ? $0 : self } ?? self
    }
}
