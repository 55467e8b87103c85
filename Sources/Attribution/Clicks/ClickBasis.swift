/// Why a click tells less of its visitor than a page's script would.
public enum ClickBasis: String, CaseIterable, Sendable {
    /// Its page ran no script: it is known from the request for the store alone, and found by its token alone.
    case request
    /// The visitor's browser, or the page for him, asks not to be tracked: counted, and never matched.
    case counted

    /// How it stands at the end of a click's line of canonical values, among whose readers those that do not know it pass
    /// over it.
    public var mark: String { "; basis=\(rawValue)" }

    /// From a line that ends with a mark; nil for all others.
    public init?(markedIn line: String) {
        guard let basis = Self.allCases.first(where: { line.hasSuffix($0.mark) }) else { return nil }
        self = basis
    }
}
