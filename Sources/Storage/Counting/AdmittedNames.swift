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
    /// The spans whose names were read since the last ``forgetOldSpans()``.
    private var added: [Page] = []

    public init() {}

    /// Returns the name to count under: `name`, or the name for everything else if `name` is new and the span is full.
    ///
    /// - Parameters:
    ///   - name: a value of the dimension.
    ///   - dimension: what the name names.
    ///   - scope: the scope of the event.
    ///   - time: a time within the span.
    ///   - read: returns the names that already have counts in the span with this start; these are admitted.
    /// - Returns: the admitted name, in the spelling that was admitted first.
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
            added.append(page)
            names[page] = Set(try read(period).map(dimension.limitedName)).subtracting([overflow])
        }
        // Swift compares texts by their characters, and a database by their bytes. The spelling that was admitted first
        // is returned, so that all spellings of one text (é is one character, or e with an accent) are one name and not
        // several rows.
        if let known = names[page], let place = known.firstIndex(of: name) { return known[place] }
        guard names[page]?.count ?? 0 < limit else { return overflow }
        names[page, default: []].insert(name)
        return name
    }

    /// Keeps only two spans of each dimension: the one that was added last, and the newest other one.
    ///
    /// Around the end of a span, events of that span and of the next one arrive.
    ///
    /// It is called between two transactions. Within a transaction, names may be admitted that are not in the database
    /// yet, so a span that is read twice would exceed its limit.
    public mutating func forgetOldSpans() {
        for page in added.reversed() where names[page] != nil {
            let others = names.keys.filter { other in
                other.scope == page.scope && other.dimension == page.dimension && other.period != page.period
            }
            for oldest in others.sorted(by: { $0.period < $1.period }).dropLast() { names[oldest] = nil }
        }
        added = []
    }

    /// Forgets all names after a rollback, because the names that the transaction admitted are not in the database.
    public mutating func forgetAll() { (names, added) = ([:], []) }

    /// The length of the spans that limit a dimension's names.
    private static func span(of dimension: Dimension) -> Granularity {
        dimension == .launch || dimension == .click ? .quarter : .day
    }
}
