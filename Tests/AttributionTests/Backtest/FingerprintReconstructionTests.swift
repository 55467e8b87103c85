import Attribution
import Testing

@Suite("Fingerprints that are made again")
struct FingerprintReconstructionTests {
    private let key = ServerKey(bytes: Array(repeating: 7, count: ServerKey.byteCount))
    private let signals = CanonicalSignals(
        platform: .ios,
        model: "iPhone",
        system: .minor(OSVersion(major: 17, minor: 2)),
        screen: ScreenSize(390, 844),
        scale: 3,
        timezone: "Europe/Istanbul",
        languages: ["tr"]
    )

    private func remaking(_ keys: [ServerKey]) -> FingerprintReconstruction {
        FingerprintReconstruction(keys: keys, data: .embedded, localization: .unknown)
    }

    @Test("have the form, the weight and the system that they were stored with, under whichever server key")
    func remade() throws {
        let key = try #require(key)
        let newer = try #require(ServerKey(bytes: Array(repeating: 8, count: ServerKey.byteCount)))
        let made = signals.fingerprints()
        var remaking = remaking([newer, key])
        let (all, missing, told) = remaking.fingerprints(
            made.map { key.keyed($0.fingerprint) },
            text: signals.line,
            osVersion: nil,
            platform: .ios
        )
        #expect(missing == 0)
        #expect(told == SignalHashes(signals.evidence()) && !told.isEmpty)
        #expect(all.map(\.form) == made.map(\.form))
        #expect(all.map(\.weight) == made.map(\.weight))
        #expect(all.map(\.key) == made.map { key.keyed($0.fingerprint).index })
        #expect(all.allSatisfy { $0.release == OSRelease(platform: .ios, major: 17, minor: 2) })
    }

    @Test("leave a ready-made one before them as it is, and advertising ids behind them out")
    func mixed() throws {
        let key = try #require(key)
        let made = signals.fingerprints().map { key.keyed($0.fingerprint) }
        let (own, id) = (KeyedHash(index: 1, rest: 1), KeyedHash(index: 2, rest: 2))
        var remaking = remaking([key])
        let (all, missing, _) = remaking.fingerprints(
            [own] + made + [id],
            text: signals.line,
            osVersion: nil,
            platform: .ios
        )
        #expect(missing == 0)
        #expect(all.count == made.count + 1)
        #expect(all.first?.key == 1 && all.first?.form == nil && all.first?.weight == 1)
        let alone = remaking.fingerprints([own, id], text: nil, osVersion: OSVersion("17.2"), platform: .ios)
        #expect(alone.all.map(\.key) == [1])
        #expect(alone.all.first?.release == OSRelease(platform: .ios, major: 17, minor: 2))
        #expect(alone.missing == 0 && alone.signals.isEmpty)
    }

    @Test("are told to be missing where signals do not make them any more")
    func missing() throws {
        let key = try #require(key)
        var other = signals
        other.languages = ["de"]
        let stored = other.fingerprints().map { key.keyed($0.fingerprint) }
        var remaking = remaking([key])
        #expect(remaking.fingerprints(stored, text: signals.line, osVersion: nil, platform: .ios).missing > 0)
        let lost = [stored[0], stored[1]] + signals.fingerprints().map { key.keyed($0.fingerprint) }
        #expect(remaking.fingerprints(lost, text: signals.line, osVersion: nil, platform: .ios).missing == 1)
    }
}
