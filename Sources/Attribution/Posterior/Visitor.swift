/// The clicks of one person, who launches once: they count as one candidate, represented by the last click.
struct Visitor {
    /// The clicks, newest first, at equal times the larger id first; never empty.
    let clicks: [Candidate]
    /// Whether the visitor launched after their last click, so that their earlier clicks explain no other launch.
    let hasLaunchedSinceLastClick: Bool

    var last: Candidate { clicks[0] }

    /// Returns the visitors behind the live candidates, ordered by their last clicks, newest first.
    static func groups(of evidence: CandidateEvidence) -> [Visitor] {
        let traffic = evidence.addressTraffic
        let live = evidence.candidates.filter { $0.claimedAt == nil }.sorted(by: isNewer)
        let isLowTraffic = evidence.background.isEmpty && live.count <= ModelConstants.lowTrafficClicks
        let claims = evidence.candidates.filter { $0.claimedAt != nil && $0.address == .exact }
        var members: [UInt64: [Candidate]] = [:]
        for candidate in live { members[candidate.visitor, default: []].append(candidate) }
        var visitors: [Visitor] = []
        var grouped: Set<UInt64> = []
        for candidate in live {
            let clicks = members[candidate.visitor] ?? [candidate]
            guard isOne(clicks, traffic, isLowTraffic: isLowTraffic) else {
                visitors.append(Visitor([candidate], claims: claims, traffic: traffic))
                continue
            }
            guard grouped.insert(candidate.visitor).inserted else { continue }
            guard clicks.count > 1 else {
                visitors.append(Visitor(clicks, claims: claims, traffic: traffic))
                continue
            }
            for device in devices(of: clicks) {
                visitors.append(Visitor(device, claims: claims, traffic: traffic))
            }
        }
        return visitors
    }

    private init(_ clicks: [Candidate], claims: [Candidate], traffic: AddressTraffic) {
        self.clicks = clicks
        let last = clicks[0]
        hasLaunchedSinceLastClick =
            last.address == .exact && !Self.isCrowded(traffic, own: clicks.count + claims.count)
            && claims.contains { ($0.claimedAt ?? $0.clickedAt) >= last.clickedAt }
    }

    /// Returns the clicks of each of a visitor's devices: different screens mean two phones in one household,
    /// and therefore two people.
    private static func devices(of clicks: [Candidate]) -> [[Candidate]] {
        var devices: [[Candidate]] = []
        for click in clicks {
            let index = devices.firstIndex { device in
                device.allSatisfy { $0.signals.agrees(with: click.signals) != false }
            }
            if let index { devices[index].append(click) } else { devices.append([click]) }
        }
        return devices
    }

    private static func isOne(_ clicks: [Candidate], _ traffic: AddressTraffic, isLowTraffic: Bool) -> Bool {
        guard clicks.count > 1 else { return true }
        guard let first = clicks.first, first.hasAddress else { return isLowTraffic }
        guard clicks.count <= ModelConstants.maximumVisitorClicks else { return false }
        return first.address != .exact || !isCrowded(traffic, own: clicks.count)
    }

    private static func isCrowded(_ traffic: AddressTraffic, own: Int) -> Bool {
        traffic.clicksExact + traffic.launchesExact - Double(own) >= ModelConstants.crowdedAddressThreshold
    }

    static func isNewer(_ left: Candidate, _ right: Candidate) -> Bool {
        (left.clickedAt, left.click) > (right.clickedAt, right.click)
    }
}
