import Benchmark
import Testing

/// Tests the arithmetic of the benchmark's figures.
@Suite("Measuring")
struct MeasuringTests {
    @Test(
        "returns the durations that the given shares of all durations do not exceed",
        arguments: [(0.5, 50), (0.99, 99), (1, 100), (0, 1)]
    )
    func givesQuantiles(share: Double, microseconds: Double) {
        var latencies = Latencies(capacity: 100)
        for number in (1...100).reversed() { latencies.add(microseconds: UInt64(number)) }
        #expect(latencies.quantiles(share, 1) == [microseconds, 100])
    }

    @Test("distinguishes short durations to the microsecond", arguments: [0, 1, 63, 127, 128])
    func keepsShortDurationsApart(microseconds: UInt64) {
        var latencies = Latencies(capacity: 0)
        #expect(latencies.quantiles(0.5) == [0])
        for duration in [microseconds, 1000, .max] { latencies.add(microseconds: duration) }
        #expect(latencies.quantiles(0.3, 0.5, 1) == [Double(microseconds), 1000, Double(UInt32.max)])
    }

    @Test(
        "returns the median of the rounds",
        arguments: [([3.0, 1, 2], 2.0), ([4.0, 1, 2, 3], 2.5), ([7.0], 7.0)]
    )
    func takesTheMiddle(rounds: [Double], median: Double) { #expect(rounds.median == median) }

    @Test("finds growth after the warm-up, and ignores growth in the warm-up alone")
    func seesGrowth() {
        let growing = (0..<100).map { 1000 + Double($0) }
        #expect(Trend.growthPercent(growing) > 7)
        let filling = (0..<100).map { min(1000, 900 + 10 * Double($0)) }
        #expect(abs(Trend.growthPercent(filling)) < 0.1)
        let falling = (0..<100).map { 1000 - Double($0) }
        #expect(Trend.growthPercent(falling) < 0)
    }

    @Test("finds the end of a response once its head is complete")
    func findsTheEnd() {
        let answer = Array("HTTP/1.1 200 OK\r\nDate: x\r\ncontent-length: 3\r\n\r\nabc".utf8)
        #expect(ResponseBytes.end(of: answer.span, count: answer.count) == answer.count)
        // The head alone shows where the body will end.
        #expect(ResponseBytes.end(of: answer.span, count: answer.count - 3) == answer.count)
        for count in 0..<answer.count - 3 { #expect(ResponseBytes.end(of: answer.span, count: count) == nil) }
    }
}
