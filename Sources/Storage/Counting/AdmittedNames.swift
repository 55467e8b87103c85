public import Attribution

/// The campaigns, links and other free texts, and the groups for drift alarms, that have separate counts in a span of time.
///
/// Only the thread that adds to the counts uses it.
///
/// A span's names are read from the counts once and then stay in memory, so that a name costs one look-up in a set.
public struct AdmittedNames: Sendable {
    private struct Page: Hashable {
        let scope: Scope
        let dimension: Dimension
        let period: Timestamp
    }
    private var names: [Page: Set<String>] = [:]

    public init() {}

    /// Returns the name to count under: `name`, or the name for everything else if `name` is new and the span is full.
    ///
    /// - Parameters:
    ///   - name: a value of the dimension.
    ///   - dimension: what the name names.
    ///   - scope: the scope of the event.
    ///   - time: a time within the span.
    ///   - read: returns the names that already have counts in the span with this start; these are admitted.
    /// - Returns: the admitted name.
    /// - Throws: the failure of `read`.
    public mutating func admit<Failure: Error>(
        _ name: String,
        _ dimension: Dimension,
        of scope: Scope,
        at time: Timestamp,
        read: (_ period: Timestamp) throws(Failure) -> [String]
    ) throws(Failure) -> String {
        let overflow = dimension.overflowValue
        guard let limit = dimension.nameLimit, name != overflow else { return name }
        let period = Self.span(of: dimension).start(of: time)
        let page = Page(scope: scope, dimension: dimension, period: period)
        if names[page] == nil {
            forgetOldest(like: page)
            names[page] = Set(try read(period).map(dimension.limitedName)).subtracting([overflow])
        }
        if names[page]?.contains(name) == true { return name }
        guard names[page]?.count ?? 0 < limit else { return overflow }
        names[page, default: []].insert(name)
        return name
    }

    /// Forgets all names after a rollback, because the names that the transaction admitted are not in the
    /// database.
    public mutating func forgetAll() { names = [:] }

    /// The length of the spans that limit a dimension's names.
    private static func span(of dimension: Dimension) -> Granularity {
        dimension == .launch || dimension == .click ? .quarter : .day
    }

    /// Limits a dimension to two spans: around the end of a span, events of that span and of the next one arrive.
    private mutating func forgetOldest(like page: Page) {
        let others = names.keys.filter { $0.scope == page.scope && $0.dimension == page.dimension }
        guard others.count >= 2, let oldest = others.min(by: { $0.period < $1.period }) else { return }
        names[oldest] = nil
    }
}
