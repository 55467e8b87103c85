import Attribution
import Support
import Testing

@Suite("Fingerprints of a population")
struct PopulationTests {
    /// Returns the share of devices whose hash is among their click's hashes, and the mean number of hashes of a click.
    private func measure(
        _ audience: SimulatedDevice.Audience,
        seed: UInt64,
        _ device: (SimulatedDevice.Audience, inout SeededGenerator) -> SimulatedDevice?
    ) throws -> (found: Double, rows: Double) {
        let app = AppLocalization(
            localizations: audience.localizations,
            developmentLanguage: "en",
            languages: DeviceData.embedded.languages
        )
        var random = SeededGenerator(seed: seed)
        let count = 1500
        var found = 0
        var rows = 0
        for _ in 0..<count {
            let device = try #require(device(audience, &random))
            let click = CanonicalSignals(device.page, userAgent: device.userAgent)
            let made = click.fingerprints(localization: app)
            let launch = Fingerprint(of: device.hashed)
            rows += made.count
            if made.contains(where: { $0.form == device.form && $0.fingerprint == launch }) { found += 1 }
        }
        return (Double(found) / Double(count), Double(rows) / Double(count))
    }

    @Test(
        "include 97 of 100 iPhones' hashes; a click has at most 8.3 hashes on average, 7 in Turkey",
        arguments: SimulatedDevice.Audience.allCases,
        [1, 2, 3] as [UInt64]
    )
    func iPhones(_ audience: SimulatedDevice.Audience, seed: UInt64) throws {
        let (found, rows) = try measure(audience, seed: seed, SimulatedDevice.iPhone)
        #expect(found >= 0.97, "\(rows) rows")
        #expect(rows <= (audience == .turkish ? 7 : 8.3), "\(found) found")
    }

    @Test(
        "include 97 of 100 Android phones' hashes; a click has at most 4 hashes on average, 3 in Turkey",
        arguments: SimulatedDevice.Audience.allCases,
        [1, 2, 3] as [UInt64]
    )
    func androids(_ audience: SimulatedDevice.Audience, seed: UInt64) throws {
        let (found, rows) = try measure(audience, seed: seed, SimulatedDevice.android)
        #expect(found >= 0.97, "\(rows) rows")
        #expect(rows <= (audience == .turkish ? 3 : 4), "\(found) found")
    }

    @Test(
        "need on average at most eight rows a click if half of the phones are iPhones, in each audience",
        arguments: SimulatedDevice.Audience.allCases
    )
    func rows(_ audience: SimulatedDevice.Audience) throws {
        let iPhones = try measure(audience, seed: 4, SimulatedDevice.iPhone).rows
        let androids = try measure(audience, seed: 4, SimulatedDevice.android).rows
        #expect((iPhones + androids) / 2 <= 8, "\(iPhones) and \(androids)")
    }
}
