import Attribution
import Simulation

/// Plays a simulated world's clicks and launches through a store as a server would, and counts the wrong matches.
struct SimulatedTraffic {
    private(set) var matches = 0
    /// Matches with another link than the person's click had, and matches of launches without a click in the window.
    private(set) var wrong = 0

    private let app: AppID
    private let policy: MatchPolicy
    private var recorder = EventRecorder()
    private var clicks: [UInt64: RecordedClick] = [:]

    init(app: AppID, policy: MatchPolicy) { (self.app, self.policy) = (app, policy) }

    /// Resets the counts.
    mutating func beginCounting() {
        matches = 0
        wrong = 0
    }

    mutating func play(_ event: TraceEvent, _ session: TestSession) async throws {
        switch recorder.recorded(event) {
        case .click(let click):
            clicks[click.name] = click
            _ = try await session.record(newClick(click))
        case .launch(let launch):
            guard case .match(let claim) = try await session.match(check(launch)) else { return }
            matches += 1
            if !isRight(claim, for: launch) { wrong += 1 }
        }
    }

    private func newClick(_ click: RecordedClick) throws -> NewClick {
        var new = try NewClick.sample(app: app, at: click.at) {
            $0.destination = DeepLinkURL(stored: Self.url(click))
            $0.campaignKey = CampaignKey("C\(click.destination.campaign)")
            $0.platform = click.platform
        }
        new.fingerprints = click.fingerprints.map {
            FingerprintEntry(form: $0.form, key: hash($0.key), weight: $0.weight, release: $0.release)
        }
        new.evidence.address = click.address
        new.evidence.visitor = click.visitor
        return new
    }

    private func check(_ launch: RecordedLaunch) -> Check {
        var check = Check.sample(app: app, at: launch.at, caller: launch.caller, grace: 60_000)
        check.ladder = MatchingLadder([], fingerprints: launch.fingerprints.map(hash))
        check.policy = policy
        check.set(
            details: LaunchDetails(address: launch.address.map { LaunchAddress($0) }, release: launch.release)
        )
        return check
    }

    private func isRight(_ claim: Claim, for launch: RecordedLaunch) -> Bool {
        guard case .click(let name)? = launch.truth, let click = clicks[name],
            AttributionWindow.standard.covers(clickedAt: click.at, now: launch.at)
        else { return false }
        return claim.click.facts.destination.text == Self.url(click)
    }

    private static func url(_ click: RecordedClick) -> String { "myapp://item/\(click.destination.url)" }
}
