/// The clicks of one person, who launches once: one candidate, credited with the last of them.
struct Visitor {
    /// Newest first, ties by later id; never empty.
    let clicks: [Candidate]
    /// He has launched since his last click: what he clicked before that explains no other launch.
    let isSpent: Bool

    var last: Candidate { clicks[0] }

    /// Above this many clicks with one visitor hash, the address is many people's.
    private static let mostClicks = 4
    /// With so many other clicks and launches at the launch's address, equal agents are no longer one person.
    private static let crowded = 4.0
    /// With at most so many clicks on a fingerprint, those without an address are one person's.
    private static let lowTraffic = 4

    /// The visitors behind the live candidates, in the order of their last clicks, newest first.
    static func groups(of evidence: CandidateEvidence) -> [Visitor] {
        let live = evidence.candidates.filter { $0.claimedAt == nil }.sorted(by: isNewer)
        let isLowTraffic = evidence.background.isEmpty && live.count <= lowTraffic
        let claims = evidence.candidates.filter { $0.claimedAt != nil && $0.address == .exact }
        var members: [UInt64: [Candidate]] = [:]
        for candidate in live { members[candidate.visitor, default: []].append(candidate) }
        var visitors: [Visitor] = []
        var grouped: Set<UInt64> = []
        for candidate in live {
            let clicks = members[candidate.visitor] ?? [candidate]
            guard isOne(clicks, evidence.crowd, isLowTraffic: isLowTraffic) else {
                visitors.append(Visitor([candidate], claims: claims, crowd: evidence.crowd))
                continue
            }
            guard grouped.insert(candidate.visitor).inserted else { continue }
            guard clicks.count > 1 else {
                visitors.append(Visitor(clicks, claims: claims, crowd: evidence.crowd))
                continue
            }
            for own in devices(of: clicks) {
                visitors.append(Visitor(own, claims: claims, crowd: evidence.crowd))
            }
        }
        return visitors
    }

    private init(_ clicks: [Candidate], claims: [Candidate], crowd: AddressTraffic) {
        self.clicks = clicks
        let last = clicks[0]
        isSpent =
            last.address == .exact && !Self.isCrowded(crowd, own: clicks.count + claims.count)
            && claims.contains { ($0.claimedAt ?? $0.clickedAt) >= last.clickedAt }
    }

    /// The clicks of each of a visitor's devices: on screens that differ they are of two phones in one household, and of
    /// two people.
    private static func devices(of clicks: [Candidate]) -> [[Candidate]] {
        var devices: [[Candidate]] = []
        for click in clicks {
            let own = devices.firstIndex { device in
                device.allSatisfy { $0.signals.agrees(with: click.signals) != false }
            }
            if let own { devices[own].append(click) } else { devices.append([click]) }
        }
        return devices
    }

    private static func isOne(_ clicks: [Candidate], _ crowd: AddressTraffic, isLowTraffic: Bool) -> Bool {
        guard clicks.count > 1 else { return true }
        guard let first = clicks.first, first.hasAddress else { return isLowTraffic }
        guard clicks.count <= mostClicks else { return false }
        return first.address != .exact || !isCrowded(crowd, own: clicks.count)
    }

    private static func isCrowded(_ crowd: AddressTraffic, own: Int) -> Bool {
        crowd.clicksExact + crowd.launchesExact - Double(own) >= crowded
    }

    static func isNewer(_ left: Candidate, _ right: Candidate) -> Bool {
        (left.clickedAt, left.click) > (right.clickedAt, right.click)
    }
}
