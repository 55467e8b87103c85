import Attribution
import Testing

@Suite("Spans of counts")
struct CountedSpansTests {
    private static let day: Int64 = 86_400_000

    /// Returns the query of a range whose ends are given in hours since the start of a block of four weeks.
    private func query(
        _ from: Int64?,
        _ to: Int64?,
        _ interval: StatisticsQuery.Interval = .day,
        offset: Int64 = 0
    )
        -> StatisticsQuery
    {
        func time(_ hours: Int64) -> Timestamp {
            Timestamp(milliseconds: 28 * 700 * Self.day + hours * 3_600_000)
        }
        var query = StatisticsQuery()
        (query.from, query.to, query.interval) = (from.map(time), to.map(time), interval)
        query.offset = offset
        return query
    }

    @Test("cover a range once and without gaps, with hours only for ends within a day")
    func covers() {
        for from in [nil, -24 * 30, -25, 0, 1, 24, 24 * 27, 24 * 28, 24 * 29 + 5] as [Int64?] {
            for length in [nil, 1, 23, 24, 25, 24 * 28, 24 * 57, 24 * 365] as [Int64?] {
                for offset in [0, 3, -12] as [Int64] {
                    for interval in StatisticsQuery.Interval.allCases {
                        let to = length.map { (from ?? 0) + $0 }
                        let query = query(from, to, interval, offset: offset)
                        guard from != nil || to != nil else {
                            #expect(query.spans.map(\.granularity) == [.all])
                            continue
                        }
                        let (spans, range) = (query.spans, query.range)
                        #expect(spans.first?.first == range.first && spans.last?.end == range.end)
                        #expect(zip(spans, spans.dropFirst()).allSatisfy { $0.end == $1.first })
                        for span in spans {
                            #expect(span.first < span.end)
                            let ends = [span.first, span.end].filter {
                                ![.min, .max].contains($0.milliseconds)
                            }
                            #expect(ends.allSatisfy { span.granularity.start(of: $0) == $0 })
                            let isFine = span.granularity == .hour
                            #expect(!isFine || interval == .hour || offset != 0)
                            #expect(!isFine || span.end.milliseconds(since: span.first) < 2 * Self.day)
                        }
                    }
                }
            }
        }
    }

    @Test("a year is the sum of 41 counts, and a range without an end has no short spans at its end")
    func fewSpans() {
        func count(_ spans: CountedSpans) -> Int64 {
            guard let length = spans.granularity.milliseconds else { return 1 }
            return spans.end.milliseconds(since: spans.first) / length
        }
        // 23 days up to the first block of four weeks, 12 blocks, and 6 days after them.
        let counts: [Int64] = query(24 * 5, 24 * 370).spans.map(count)
        #expect(counts.reduce(0, +) == 41)
        let sinceDay5 = query(24 * 5, nil).spans.map(\.granularity)
        #expect(sinceDay5 == [.day, .fourWeeks])
        let sinceDay28 = query(24 * 28, nil, .hour).spans.map(\.granularity)
        #expect(sinceDay28 == [.fourWeeks])
    }
}
