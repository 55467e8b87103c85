/// Explains from the stored facts why a check ended as it did.
///
/// An explanation tries many combinations of values. This may take most of a second, so it must not run on an event
/// loop.
public struct Explainer: Sendable {
    /// The server keys that hashed the stored fingerprints, the current one first.
    public var keys: [ServerKey]
    public var data: DeviceData
    public var localizations: [AppID: AppLocalization]
    /// The windows of the apps that set any, by method.
    public var windows: [AppID: MethodWindows] = [:]
    /// Reads a click's ``ClickEvidence/canonicalText``; returns nil for a text that cannot be read.
    public var signals: @Sendable (String) -> CanonicalSignals?
    /// The largest number of combinations of values to try for one explanation under each server key.
    public var searchLimit = 300_000

    /// The largest number of clicks that are listed because they come from the launch's address or have similar values.
    private static let nearLimit = 5

    public init(
        keys: [ServerKey],
        data: DeviceData = .embedded,
        localizations: [AppID: AppLocalization] = [:],
        signals: @escaping @Sendable (String) -> CanonicalSignals?
    ) {
        (self.keys, self.data, self.localizations, self.signals) = (keys, data, localizations, signals)
    }

    public func explain(_ material: ExplanationInput) -> Explanation {
        let facts = material.record.facts
        var explanation = Explanation(record: material.record)
        explanation.windows = windows[material.record.app] ?? MethodWindows()
        explanation.clicks = explainedClicks(material)
        let isWithoutClick = !explanation.clicks.contains { $0.state != .later }
        guard facts.outcome == .noMatch, isWithoutClick, let fingerprint = facts.fingerprint
        else { return explanation }
        let near = nearClicks(material)
        let finding = search(fingerprint, near, localization(of: material.record.app))
        explanation.launch = finding.input
        explanation.triedCombinations = finding.triedCombinations
        let nearest =
            finding.input.map { self.nearest($0, near, facts.at) }
            ?? clicksFromSameAddress(material, facts.at)
        explanation.clicks = nearest + explanation.clicks
        return explanation
    }

    /// Returns the clicks that concern the check: first the click that the check got, then the clicks that it
    /// could have got, then the others.
    private func explainedClicks(_ material: ExplanationInput) -> [ExplainedClick] {
        let facts = material.record.facts
        let answer = facts.outcome == .noMatch ? nil : facts.click
        let listed = Set(material.sameFingerprint.map(\.id))
        // The list of clicks with the fingerprint is limited, so it may lack clicks that the check weighed.
        var same = Set((material.sameFingerprint.map(\.id) + facts.shares.map(\.click)).map(\.high))
        if facts.outcome != .replay, facts.method?.confidence == nil, let click = facts.click {
            same.insert(click.high)
        }
        let windows = windows[material.record.app]
        let all = material.sameFingerprint + material.named.filter { !listed.contains($0.id) }
        let clicks = all.map { click in
            let isSame = same.contains(click.id.high)
            let click = click.limited(to: isSame ? windows?.fingerprint : windows?.deterministic)
            let state = click.state(at: facts.at, isAnswer: click.id.high == answer?.high)
            var explained = ExplainedClick(click, state, hasSameFingerprint: isSame)
            explained.share = facts.shares.first { $0.click.high == click.id.high }?.probability
            explained.hasSameScreen = hasSameScreen(click, facts)
            return explained
        }
        return clicks.enumerated().sorted { left, right in
            (rank(left.element.state), -(left.element.share ?? 0), left.offset)
                < (rank(right.element.state), -(right.element.share ?? 0), right.offset)
        }.map(\.element)
    }

    private func hasSameScreen(_ click: KnownClick, _ facts: CheckFacts) -> Bool? {
        guard !facts.signals.isEmpty, let values = click.canonicalText.flatMap(signals) else { return nil }
        return SignalHashes(values.evidence(data: data)).agrees(with: facts.signals)
    }

    private func rank(_ state: KnownClick.State) -> Int {
        switch state {
        case .answered: 0
        case .open: 1
        case .claimed, .retired, .expired, .robot: 2
        case .later: 3
        }
    }

    private func localization(of app: AppID) -> AppLocalization { localizations[app] ?? .unknown }

    /// A click with the inputs of the fingerprints that its device would compute, one for each form.
    private struct NearClick {
        var click: KnownClick
        let spellings: SignalSpellings
        let inputs: [FingerprintInput]
        let signals: CanonicalSignals
    }

    private func nearClicks(_ material: ExplanationInput) -> [NearClick] {
        let localization = localization(of: material.record.app)
        var byText: [String: NearClick] = [:]
        return material.recent.compactMap { click in
            guard let text = click.canonicalText else { return nil }
            if var known = byText[text] {
                known.click = click
                return known
            }
            guard let signals = signals(text) else { return nil }
            let near = NearClick(
                click: click,
                spellings: SignalSpellings(signals, localization, data),
                inputs: signals.inputs(localization: localization, data: data),
                signals: signals
            )
            byText[text] = near
            return near
        }
    }

    private func search(
        _ fingerprint: KeyedHash,
        _ near: [NearClick],
        _ localization: AppLocalization
    ) -> FingerprintSearch.Finding {
        var vocabulary = FingerprintSearch.Vocabulary()
        var candidates: [FingerprintInput] = []
        var known: Set<FingerprintInput> = []
        for click in near where click.inputs.contains(where: { known.insert($0).inserted }) {
            vocabulary.add(click.signals, localization, data)
            candidates += click.inputs.filter { !candidates.suffix(8).contains($0) }
        }
        let search = FingerprintSearch(
            vocabulary,
            known: FingerprintSearch.Vocabulary(data),
            limit: searchLimit
        )
        var tried = 0
        for key in keys {
            let finding = search.find(near: candidates) { key.keyed($0) == fingerprint }
            tried += finding.triedCombinations
            guard finding.input == nil
            else { return FingerprintSearch.Finding(input: finding.input, triedCombinations: tried) }
        }
        return FingerprintSearch.Finding(input: nil, triedCombinations: tried)
    }

    /// Returns clicks from the launch's exact address; used if no tried values give the launch's fingerprint.
    private func clicksFromSameAddress(_ material: ExplanationInput, _ time: Timestamp) -> [ExplainedClick] {
        let close = material.recent.filter { $0.agreement == .exact }
        return close.prefix(Self.nearLimit).map { click in
            ExplainedClick(click, click.state(at: time, isAnswer: false), hasSameFingerprint: false)
        }
    }

    /// Returns the clicks that differ from the launch in the fewest components; among equals,
    /// clicks from the launch's address come first, and then newer clicks.
    private func nearest(_ launch: FingerprintInput, _ near: [NearClick], _ time: Timestamp)
        -> [ExplainedClick]
    {
        let differing = near.enumerated().compactMap { offset, click in
            differences(launch, click).map { (offset: offset, click: click.click, differences: $0) }
        }
        let sorted = differing.sorted { left, right in
            (left.differences.count, left.click.agreement.rawValue, left.offset)
                < (right.differences.count, right.click.agreement.rawValue, right.offset)
        }
        return sorted.prefix(Self.nearLimit).map { near in
            let state = near.click.state(at: time, isAnswer: false)
            var explained = ExplainedClick(near.click, state, hasSameFingerprint: false)
            explained.differences = near.differences
            return explained
        }
    }

    /// Returns the components in which a click differs; nil if the click has no fingerprint of the launch's
    /// form, or nothing in common with the launch.
    private func differences(_ launch: FingerprintInput, _ near: NearClick) -> [ExplainedClick.Difference]? {
        guard let input = near.inputs.first(where: { $0.form == launch.form }) else { return nil }
        let plain = launch.differences(from: input)
        guard plain.count < launch.form.components.count else { return nil }
        // Drop a component if another spelling of the click's value equals the launch's value. If none is left, keep
        // all of them.
        let real = plain.filter { component in
            !near.spellings.positions(of: component).contains {
                near.spellings.choices[$0].text == launch.value(of: component)
            }
        }
        return (real.isEmpty ? plain : real).map { component in
            ExplainedClick.Difference(
                component,
                click: input.value(of: component) ?? "",
                launch: launch.value(of: component) ?? ""
            )
        }
    }
}
