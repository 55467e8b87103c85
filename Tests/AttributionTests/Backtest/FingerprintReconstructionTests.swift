import Attribution
import Testing

@Suite("Reconstructed fingerprints")
struct FingerprintReconstructionTests {
    private let key = ServerKey(bytes: Array(repeating: 7, count: ServerKey.byteCount))
    private let signals = {
        var signals = TestValues.signals
        signals.system = .minor(OSVersion(major: 17, minor: 2))
        return signals
    }()

    private func reconstruction(_ keys: [ServerKey]) -> FingerprintReconstruction {
        FingerprintReconstruction(keys: keys, data: .embedded, localization: .unknown)
    }

    @Test(
        "have the forms, weights and system of the signals' fingerprints, even if a newer key is tried first"
    )
    func reconstructed() throws {
        let key = try #require(key)
        let newer = try #require(ServerKey(bytes: Array(repeating: 8, count: ServerKey.byteCount)))
        let made = signals.fingerprints()
        var reconstruction = reconstruction([newer, key])
        let (all, missing, hashes) = reconstruction.fingerprints(
            made.map { key.keyed($0.fingerprint) },
            text: signals.line,
            osVersion: nil,
            platform: .ios
        )
        #expect(missing == 0)
        #expect(hashes == SignalHashes(signals.evidence()) && !hashes.isEmpty)
        #expect(all.map(\.form) == made.map(\.form))
        #expect(all.map(\.weight) == made.map(\.weight))
        #expect(all.map(\.key) == made.map { key.keyed($0.fingerprint).index })
        #expect(all.allSatisfy { $0.release == OSRelease(platform: .ios, major: 17, minor: 2) })
    }

    @Test("include a stored fingerprint that the client sent, and omit stored advertising ids")
    func mixed() throws {
        let key = try #require(key)
        let made = signals.fingerprints().map { key.keyed($0.fingerprint) }
        let (own, id) = (KeyedHash(index: 1, rest: 1), KeyedHash(index: 2, rest: 2))
        var reconstruction = reconstruction([key])
        let (all, missing, _) = reconstruction.fingerprints(
            [own] + made + [id],
            text: signals.line,
            osVersion: nil,
            platform: .ios
        )
        #expect(missing == 0)
        #expect(all.count == made.count + 1)
        #expect(all.first?.key == 1 && all.first?.form == nil && all.first?.weight == 1)
        let alone = reconstruction.fingerprints(
            [own, id],
            text: nil,
            osVersion: OSVersion("17.2"),
            platform: .ios
        )
        #expect(alone.all.map(\.key) == [1])
        #expect(alone.all.first?.release == OSRelease(platform: .ios, major: 17, minor: 2))
        #expect(alone.missing == 0 && alone.signals.isEmpty)
    }

    @Test("report the number of stored fingerprints that the signals do not produce")
    func missing() throws {
        let key = try #require(key)
        var other = signals
        other.languages = ["de"]
        let stored = other.fingerprints().map { key.keyed($0.fingerprint) }
        var reconstruction = reconstruction([key])
        #expect(
            reconstruction.fingerprints(stored, text: signals.line, osVersion: nil, platform: .ios).missing
                > 0
        )
        let lost = [stored[0], stored[1]] + signals.fingerprints().map { key.keyed($0.fingerprint) }
        #expect(
            reconstruction.fingerprints(lost, text: signals.line, osVersion: nil, platform: .ios).missing == 1
        )
    }
}
