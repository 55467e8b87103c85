import Attribution
import Foundation
import Testing

@Suite("Delays from click to launch")
struct DelayTests {
    @Test(
        "have two bins for each doubling, and the first bin for all delays below a second",
        arguments: [
            (seconds: -5.0, bin: 0), (0, 0), (0.999, 0), (1, 1), (1.4142, 1), (1.4143, 2), (2, 3), (240, 16),
            (86_400, 33), (2_592_000, 43), (1e12, 44), (.infinity, 44), (.nan, 0),
        ]
    )
    func bins(seconds: Double, bin: Int) { #expect(DelayBins.bin(forSeconds: seconds) == bin) }

    @Test("have adjacent bins, each with its own middle")
    func bounds() {
        for bin in 0..<DelayBins.count - 1 {
            let upper = DelayBins.bounds(ofBin: bin).upperBound
            #expect(upper == DelayBins.bounds(ofBin: bin + 1).lowerBound)
            #expect(DelayBins.bin(forSeconds: DelayBins.middle(ofBin: bin)) == bin)
        }
    }

    @Test("have a prior with a sum of one, three quarters within an hour, and most within a day")
    func prior() {
        let masses = DelayPrior.masses
        #expect(masses.count == DelayBins.count)
        #expect(abs(masses.reduce(0, +) - 1) < 1e-12)
        #expect(masses.allSatisfy { $0 > 0 })
        func upTo(_ seconds: Double) -> Double {
            masses.indices.filter { DelayBins.bounds(ofBin: $0).upperBound <= seconds }.reduce(0) {
                $0 + masses[$1]
            }
        }
        // By hand: 70 % of the delays have a median of 240 s and a sigma of 0.9; 30 % have a median of 18,000 s and
        // a sigma of 1.7. An hour is 15 and 0.2 medians: 0.7 · Φ(ln 15 / 0.9) + 0.3 · Φ(ln 0.2 / 1.7) = 0.751. A day
        // is 360 and 4.8 medians: 0.7 + 0.3 · Φ(ln 4.8 / 1.7) = 0.947. The last bins within an hour and within a day
        // end at 2896 s and at 65536 s, so the sums may be smaller.
        #expect((0.70...0.78).contains(upTo(3600)))
        #expect((0.90...0.96).contains(upTo(86_400)))
    }
}
