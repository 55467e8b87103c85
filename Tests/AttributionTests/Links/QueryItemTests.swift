import Attribution
import Testing

@Suite("Items of a query")
struct QueryItemTests {
    @Test(
        "are found by name; the first one counts, decoded",
        arguments: [
            ("a=1&b=2&a=3", "1"), ("b=2&a=3", "3"), ("aa=1&a=2", "2"), ("b=a&a", ""), ("a=", ""),
            ("&&a=x", "x"), ("a=%41+b%zz", "A b%zz"), ("a=b=c", "b=c"), ("a=%C3%A9", "é"), ("%61=1", "1"),
            ("b=1&%61", ""), ("%61a=1", nil), ("%6=1", nil), ("%6", nil), ("%41=1", nil), ("", nil),
            ("b=1", nil), ("aa=1", nil), ("A=1", nil), ("%2561=1", nil),
        ] as [(String, String?)]
    )
    func value(query: String, value: String?) {
        #expect(QueryItem.value(of: "a", inQuery: query) == value)
        #expect(QueryItem.withValue(of: "a", in: query.utf8.span) { $0.count } == value?.utf8.count)
    }

    @Test(
        "with a name that must occur once have no value if it occurs twice or not at all",
        arguments: [
            ("a=12&b=2", 2), ("b=2&aa=1&a=123", 3), ("&&a=x&", 1), ("a", 0), ("a=%41&%61%61=2", 1),
            ("a=1&%61=1", nil), ("%61=1&a=1", nil), ("%61=1&b=2&%61", nil), ("%61=12", 2),
            ("a=1&a=1", nil), ("a=1&b=2&a=3", nil), ("a=1&a", nil), ("a&a=1", nil), ("b=1", nil), ("", nil),
        ] as [(String, Int?)]
    )
    func onlyValue(query: String, byteCount: Int?) {
        #expect(QueryItem.withOnlyValue(of: "a", in: query.utf8.span) { $0.count } == byteCount)
    }
}
