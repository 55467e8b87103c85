import Benchmark
import Testing

/// What every figure goes through: were it wrong, all of them would be.
@Suite("Measuring")
struct MeasuringTests {
    @Test(
        "gives quantiles to a sixtieth of themselves",
        arguments: [
            (share: 0.5, microseconds: 50_000.0), (share: 0.99, microseconds: 99_000.0),
            (share: 1, microseconds: 100_000.0),
        ]
    )
    func givesQuantiles(share: Double, microseconds: Double) {
        var histogram = LatencyHistogram()
        for number in 1...100_000 { histogram.add(microseconds: UInt64(number)) }
        #expect(abs(histogram.quantile(share) - microseconds) <= microseconds / 60)
    }

    @Test("keeps short durations apart to the microsecond", arguments: [0, 1, 63, 127, 128])
    func keepsShortDurationsApart(microseconds: UInt64) {
        var histogram = LatencyHistogram()
        histogram.add(microseconds: microseconds)
        histogram.add(microseconds: 1000)
        #expect(histogram.quantile(0.5) <= Double(microseconds) + 1)
        #expect(histogram.quantile(0.5) >= Double(microseconds))
    }

    @Test("takes the middle round", arguments: [([3.0, 1, 2], 2.0), ([4.0, 1, 2, 3], 2.5), ([7.0], 7.0)])
    func takesTheMiddle(rounds: [Double], median: Double) { #expect(rounds.median == median) }

    @Test("sees growth behind the warm-up, and none in the warm-up alone")
    func seesGrowth() {
        let growing = (0..<100).map { 1000 + Double($0) }
        #expect(Trend.growthPercent(growing) > 7)
        let filling = (0..<100).map { min(1000, 900 + 10 * Double($0)) }
        #expect(abs(Trend.growthPercent(filling)) < 0.1)
        let falling = (0..<100).map { 1000 - Double($0) }
        #expect(Trend.growthPercent(falling) < 0)
    }

    @Test("finds where an answer ends, and not before its head is whole")
    func findsTheEnd() {
        let answer = Array("HTTP/1.1 200 OK\r\nDate: x\r\ncontent-length: 3\r\n\r\nabc".utf8)
        #expect(AnswerBytes.end(of: answer.span, count: answer.count) == answer.count)
        // Its head alone tells where its body will end.
        #expect(AnswerBytes.end(of: answer.span, count: answer.count - 3) == answer.count)
        for count in 0..<answer.count - 3 { #expect(AnswerBytes.end(of: answer.span, count: count) == nil) }
    }
}
