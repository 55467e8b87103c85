import Attribution
import Simulation
import Testing
import Storage

@Suite("Matching in simulated worlds")
struct SimulationTests {
    @Test("a world has the same events for the same seed, and other events for another seed")
    func deterministic() {
        var world = Worlds.turkey(300)
        world.days = 2
        let one = TraceGenerator.events(of: world, seed: 3)
        let other = TraceGenerator.events(of: world, seed: 3)
        #expect("\(one)" == "\(other)")
        #expect("\(one)" != "\(TraceGenerator.events(of: world, seed: 4))")
        #expect(zip(one, one.dropFirst()).allSatisfy { $0.at <= $1.at })
    }

    @Test(
        "is calibrated and precise, and finds most clicks, in worlds with parameters unknown to the model",
        arguments: [
            // Each of two days has 2,000 clicks, and only the second day counts. The limits have a margin,
            // because the launches are few.
            (world: Worlds.turkey(2000), precision: 0.93, found: 0.62, organic: 0.04, error: 0.06),
            (world: Worlds.world(2000), precision: 0.93, found: 0.66, organic: 0.04, error: 0.06),
            (world: Worlds.venue(2000), precision: 0.85, found: 0.55, organic: 0.14, error: 0.10),
        ]
    )
    func bars(world: World, precision: Double, found: Double, organic: Double, error: Double) throws {
        var world = world
        world.days = 2
        let score = Replay.played(TraceGenerator.events(of: world, seed: 11), ReplayPlan()).score
        #expect(try #require(score.precision) >= precision)
        #expect(try #require(score.found) >= found)
        #expect(try #require(score.falseAttribution) <= organic)
        #expect(score.uncappedCalibration.error <= error)
        // The limit of stated confidences, 0.99, worsens the calibration only a little. A limit of 0.95 would worsen
        // it by 0.03.
        #expect(score.calibration.error <= score.uncappedCalibration.error + 0.01)
        #expect(try #require(score.rematched) <= 0.08)
        #expect(score.clicksUsedTwice == 0)
        // The expected conversions are near the true number.
        #expect(abs(score.expected / Double(score.conversions) - 1) < 0.25)
    }

    @Test("matches few organic launches when nearly every launch is organic")
    func mostlyOrganic() throws {
        var world = Worlds.turkey(1000)
        world.days = 2
        world.organicPerConversion = 19
        let score = Replay.played(TraceGenerator.events(of: world, seed: 5), ReplayPlan()).score
        #expect(try #require(score.falseAttribution) <= 0.01)
        #expect(try #require(score.precision) >= 0.85)
    }

    @Test("is nearly always right, and finds most clicks, if 85 % of the launches bring a token")
    func tokens() throws {
        var world = Worlds.turkey(2000)
        world.days = 2
        world.tokens = 0.85
        let score = Replay.played(TraceGenerator.events(of: world, seed: 6), ReplayPlan()).score
        #expect(try #require(score.precision) >= 0.98)
        #expect(try #require(score.found) >= 0.90)
    }

    /// Plays the same people in a world whose apps send a hash, and in a world whose apps send values.
    @Test(
        "finds more clicks, and is no less precise, if apps send their values instead of a hash",
        // In a world of one country, values help least, because most launches are found by their address or not at all.
        arguments: [
            (world: Worlds.turkey(5000), more: 0.005), (Worlds.world(2000), 0.02),
            (Worlds.venue(2000), 0.05),
        ]
    )
    func clientKinds(example: (world: World, more: Double)) throws {
        let scores = [ClientKind.hash, .signals].map { client in
            var world = example.world
            world.client = client
            return Replay.played(TraceGenerator.events(of: world, seed: 1), ReplayPlan()).score
        }
        #expect(try #require(scores[1].precision) >= #require(scores[0].precision))
        #expect(try #require(scores[1].falseAttribution) <= #require(scores[0].falseAttribution))
        #expect(try #require(scores[1].found) >= #require(scores[0].found) + example.more)
    }

    @Test("is nearly always right with values, and with tokens on 85 % of Android phones and 50 % of iPhones")
    func clientLibraries() throws {
        var world = Worlds.turkey(2000)
        world.client = .signals
        (world.tokens, world.appleTokens) = (0.85, 0.5)
        let score = Replay.played(TraceGenerator.events(of: world, seed: 2), ReplayPlan()).score
        #expect(try #require(score.precision) >= 0.99)
        #expect(try #require(score.found) >= 0.85)
    }

    @Test("credits most organic launches under the newest-click rule")
    func plainRule() throws {
        var world = Worlds.turkey(2000)
        world.days = 2
        let plan = ReplayPlan(policy: MatchPolicy(rule: .newest))
        let score = Replay.played(TraceGenerator.events(of: world, seed: 11), plan).score
        #expect(try #require(score.falseAttribution) > 0.5)
        #expect(try #require(score.precision) < 0.5)
        #expect(score.clicksUsedTwice == 0)
    }
}
