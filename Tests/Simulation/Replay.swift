public import Attribution

/// Plays a trace against the model with a store in memory, and judges it after the first day.
public struct Replay {
    private let policy: MatchPolicy
    private let judgedFrom: Timestamp
    private let store = InMemoryStore(began: TraceGenerator.beginning)
    private var model = MatchingModel.fresh(at: TraceGenerator.beginning)
    private var pending: LearntIncrements
    private var taught: [UInt64: Timestamp] = [:]
    private var answered: [UInt64: Timestamp] = [:]
    private var keys: [String: UInt64] = [:]
    private var used: Set<Int> = []
    public private(set) var score = Score()
    /// The model at the end.
    public var finalModel: MatchingModel { model }

    /// How old the model and what has been learnt may be.
    private let refreshMilliseconds: Int64

    public init(policy: MatchPolicy, warmUpDays: Int = 1, refreshSeconds: Int64 = 30) {
        self.policy = policy
        refreshMilliseconds = refreshSeconds * 1000
        judgedFrom = TraceGenerator.beginning.advanced(byMilliseconds: Int64(warmUpDays) * 86_400_000)
        pending = LearntIncrements(epoch: LearningEpoch(began: TraceGenerator.beginning))
    }

    public static func score(_ events: [TraceEvent], policy: MatchPolicy) -> Score {
        var replay = Replay(policy: policy)
        replay.play(events)
        return replay.score
    }

    public mutating func play(_ events: [TraceEvent]) {
        for event in events {
            if event.at.milliseconds(since: model.at) >= refreshMilliseconds {
                store.store(pending)
                pending.removeAll()
                model = store.model(at: event.at)
            }
            switch event {
            case .click(let click): record(click)
            case .launch(let launch): answer(launch)
            }
        }
    }

    private mutating func key(_ text: String) -> UInt64 {
        if let key = keys[text] { return key }
        let key = Fingerprint(of: text).words.0
        keys[text] = key
        return key
    }

    private mutating func record(_ click: TracedClick) {
        let device = click.device
        var found: [(key: UInt64, row: InMemoryStore.Row)] = []
        let isKnown = !(device.platform == .android)
        let release = isKnown ? OSRelease(device.os, on: device.platform) : nil
        for form in device.forms {
            for (version, weight) in spellings(of: device, form) {
                let lane = Lane(platform: device.platform, form: SimulatedForm.form(form))
                let row = InMemoryStore.Row(
                    click: click.number,
                    form: SimulatedForm.form(form),
                    lane: lane,
                    weight: weight,
                    release: release
                )
                found.append((key(device.text(form: form, os: version)), row))
            }
        }
        var hash: UInt64 = UInt64(click.address ?? 0)
        for byte in click.userAgent.utf8 { hash = SplitMix64.mixed(hash &* 31 &+ UInt64(byte)) }
        store.record(
            InMemoryStore.Stored(
                number: click.number,
                at: click.at,
                visitor: hash,
                address: click.address,
                destination: CreditedDestination(
                    url: UInt64(click.url),
                    campaign: UInt64(click.campaign + 1)
                ),
                platform: device.platform,
                release: release,
                person: click.person
            ),
            keys: found
        )
        Teaching.click(
            at: click.at,
            platform: device.platform,
            forms: device.forms.map(SimulatedForm.form),
            hasAddress: click.address != nil,
            release: release,
            into: &pending
        )
    }

    /// A browser tells the minor number of the system and not its patch.
    private func spellings(of device: Device, _ form: Character) -> [(OSVersion, Double)] {
        guard device.platform == .ios, form == "A" || form == "B" else { return [(device.os, 1)] }
        let fitting = Phones.releases.filter {
            $0.0.major == device.os.major && $0.0.minor == device.os.minor
        }
        let total = fitting.reduce(0) { $0 + $1.1 }
        return fitting.map { ($0.0, $0.1 / total) }
    }

    private mutating func answer(_ launch: TracedLaunch) {
        if let token = launch.token {
            answer(launch, token: token)
            return
        }
        let fingerprint = key(launch.fingerprintText)
        let exact = SplitMix64.mixed(UInt64(launch.address ?? 0))
        let near = SplitMix64.mixed(UInt64(launch.address ?? 0) >> 8 | 1 << 40)
        var caller = fingerprint ^ exact
        for byte in launch.userAgent.utf8 { caller = SplitMix64.mixed(caller &* 31 &+ UInt64(byte)) }
        if let before = answered[caller], launch.at.milliseconds(since: before) <= 60_000 { return }
        let evidence = store.evidence(
            fingerprint,
            address: launch.address,
            exactKey: exact,
            nearKey: near,
            at: launch.at
        )
        let facts = LaunchTraits(
            at: launch.at,
            hasAddress: launch.address != nil,
            release: launch.release
        )
        let verdict = Verdict(evidence, launch: facts, model: model, policy: policy)
        judge(launch, verdict, fingerprint)
        if case .match = verdict.outcome { answered[caller] = launch.at }
        if let last = taught[caller], launch.at.milliseconds(since: last) < 3_600_000 { return }
        taught[caller] = launch.at
        Teaching.launch(
            facts,
            evidence,
            fingerprint: fingerprint,
            exact: launch.address == nil ? nil : exact,
            near: launch.address == nil ? nil : near,
            model: model,
            into: &pending
        )
    }

    private mutating func answer(_ launch: TracedLaunch, token: Int) {
        let click = store.clicks[token]
        let isJudged = launch.at >= judgedFrom
        guard launch.truth != .retry else { return }
        guard click.claimedAt == nil, launch.at.milliseconds(since: click.at) <= store.window else {
            if isJudged, click.claimedAt != nil { score.conversions += 1 }
            return
        }
        let agreement: AddressAgreement =
            switch (click.address, launch.address) {
            case (let left?, let right?) where left == right: .exact
            case (let left?, let right?) where left >> 8 == right >> 8: .near
            case (.some, .some): .differs
            default: .missing
            }
        let delay = Double(launch.at.milliseconds(since: click.at)) / 1000
        Teaching.certainPair(agreement: agreement, delaySeconds: delay, at: launch.at, into: &pending)
        use(token, at: launch.at)
        guard isJudged else { return }
        score.conversions += 1
        score.matches += 1
        score.rightLink += 1
        score.rightPerson += 1
    }

    private mutating func use(_ number: Int, at: Timestamp) {
        if !used.insert(number).inserted { score.clicksUsedTwice += 1 }
        store.claim(number, at: at)
    }

    private mutating func judge(_ launch: TracedLaunch, _ verdict: Verdict, _ fingerprint: UInt64) {
        var matched: Int?
        if case .match(let id, let destination) = verdict.outcome {
            matched = id.map { Int($0.high) } ?? store.newest(fingerprint, destination, at: launch.at)
        }
        if let matched { use(matched, at: launch.at) }
        guard launch.at >= judgedFrom, launch.truth != .retry else { return }
        score.launches += 1
        score.expected += verdict.expectedConversions
        score.variance += verdict.variance
        var isRight = false
        switch launch.truth {
        case .click(let number):
            let click = store.clicks[number]
            guard launch.at.milliseconds(since: click.at) <= store.window else { break }
            score.conversions += 1
            guard let matched else { break }
            let answer = store.clicks[matched]
            isRight = answer.destination == click.destination
            if answer.person == launch.person { score.rightPerson += 1 }
        case .organic:
            score.organic += 1
            if matched != nil { score.organicMatched += 1 }
        case .reinstall:
            score.reinstalls += 1
            if matched != nil { score.reinstallsMatched += 1 }
        case .retry: break
        }
        guard matched != nil else { return }
        score.matches += 1
        if isRight { score.rightLink += 1 }
        score.add(stated: verdict.confidence, probability: verdict.probability, isRight: isRight)
    }
}

/// The simulated forms as those of the product, as far as it has them.
enum SimulatedForm {
    static func form(_ letter: Character) -> FingerprintForm? {
        FingerprintForm(rawValue: String(letter))
    }
}
