internal import Attribution

/// The campaigns, sources, OS versions and groups for drift alarms that have separate counts in a span of time.
///
/// Only the writing thread uses it.
///
/// A span's names are read from the counts once and then stay in memory, so that a name costs one look-up in a set.
struct AdmittedNames: Sendable {
    private struct Page: Hashable {
        let scope: Scope
        let dimension: Dimension
        let period: Timestamp
    }
    private var names: [Page: Set<String>] = [:]

    /// Returns the name to count under: `name`, or the name for everything else if `name` is new and the span is full.
    ///
    /// The period is the span's first millisecond. `read` returns the names that the span already has, which stay
    /// admitted.
    mutating func admit<Failure: Error>(
        _ name: String,
        _ dimension: Dimension,
        of scope: Scope,
        in period: Timestamp,
        read: () throws(Failure) -> [String]
    ) throws(Failure) -> String {
        let overflow = dimension.overflowValue
        guard let limit = dimension.nameLimit, name != overflow else { return name }
        let page = Page(scope: scope, dimension: dimension, period: period)
        if names[page] == nil {
            forgetOldest(like: page)
            names[page] = Set(try read()).subtracting([overflow])
        }
        if names[page]?.contains(name) == true { return name }
        guard names[page]?.count ?? 0 < limit else { return overflow }
        names[page, default: []].insert(name)
        return name
    }

    /// Forgets all names after a rollback: those that the transaction admitted are not in the database.
    mutating func forgetAll() { names = [:] }

    /// Limits a dimension to two spans: around the end of a span, events of that span and of the next one arrive.
    private mutating func forgetOldest(like page: Page) {
        let others = names.keys.filter { $0.scope == page.scope && $0.dimension == page.dimension }
        guard others.count >= 2, let oldest = others.min(by: { $0.period < $1.period }) else { return }
        names[oldest] = nil
    }
}
