public import Attribution
import Foundation
import Support

func fading(_ lives: Double) -> Double { exp(-lives) }

/// Generates the events of a world in order of time, the same events for the same seed.
public struct TraceGenerator {
    private let world: World
    private var random: SeededGenerator
    private var clicks: [TracedClick] = []
    private var launches: [TracedLaunch] = []

    /// The start of every trace.
    public static let beginning = Timestamp(milliseconds: 1_790_000_000_000)
    private static let day = 86_400.0

    private init(_ world: World, seed: UInt64) {
        self.world = world
        random = SeededGenerator(seed: seed)
    }

    /// Returns all events, with clicks numbered in order.
    public static func events(of world: World, seed: UInt64) -> [TraceEvent] {
        var generator = TraceGenerator(world, seed: seed)
        for day in 0..<world.days { generator.makeDay(Double(day) * Self.day) }
        for hour in world.bursts { generator.makeBurst(atHour: hour) }
        return generator.finished()
    }

    private mutating func makeDay(_ start: Double) {
        for _ in 0..<world.clicksPerDay { makeVisitor(at: start + timeOfDay()) }
        let organic = Double(world.clicksPerDay) * world.conversionShare * world.organicPerConversion
        for _ in 0..<Int(organic) { makeOrganic(at: start + timeOfDay()) }
    }

    /// Adds a whole day's visitors, most of them within half an hour, as after a message to all customers.
    private mutating func makeBurst(atHour hour: Double) {
        for _ in 0..<world.clicksPerDay {
            makeVisitor(at: hour * 3600 + random.logNormal(median: 420, sigma: 0.9), campaign: 0)
        }
    }

    /// Returns a time in seconds since midnight.
    private mutating func timeOfDay() -> Double {
        if world.isEvent, random.chance(0.8) {
            let rush = [14.0, 16.5, 19.0][random.below(3)] * 3600
            return rush + random.logNormal(median: 900, sigma: 0.8)
        }
        while true {
            let time = random.unit() * Self.day
            let busy = 1 - world.diurnal * cos(2 * .pi * (time / Self.day - 3.0 / 24))
            if random.unit() * (1 + world.diurnal) < busy { return time }
        }
    }

    private mutating func makeVisitor(at start: Double, campaign: Int? = nil) {
        let person = random.next()
        let device = Phones.any(in: world, &random)
        let isApple = device.platform == .ios
        var place = world.networks.place(of: person, isApple: isApple, &random)
        let browser = random.below(4)
        var time = start
        var link = makeLink(campaign)
        appendClick(person, device, place, browser, link, at: time)
        if random.chance(world.doubleTaps) {
            time += 2 + random.unit() * 30
            appendClick(person, device, place, browser, link, at: time)
        } else if random.chance(world.revisits) {
            let pause = random.logNormal(median: 5400, sigma: 1.2)
            place = world.networks.later(place, seconds: pause, of: person, isApple: isApple, &random)
            time += pause
            if random.chance(0.5) { link = makeLink(nil) }
            appendClick(person, device, place, browser, link, at: time)
        }
        guard random.chance(world.conversionShare) else { return }
        let delay = world.delays[random.index(weights: world.delays.map(\.share))]
        let seconds = max(8, random.logNormal(median: delay.median, sigma: delay.sigma))
        let last = clicks[clicks.count - 1]
        place = world.networks.later(place, seconds: seconds, of: person, isApple: isApple, &random)
        let token =
            random.chance(isApple ? world.appleTokens ?? world.tokens : world.tokens) ? last.number : nil
        appendLaunch(person, device, place, at: time + seconds, token: token, truth: .click(last.number))
    }

    private mutating func makeOrganic(at time: Double) {
        let person = random.next()
        let device = Phones.any(in: world, &random)
        let place = world.networks.place(of: person, isApple: device.platform == .ios, &random)
        appendLaunch(person, device, place, at: time, token: nil, truth: .organic)
    }

    private mutating func makeLink(_ campaign: Int?) -> (campaign: Int, url: Int) {
        let campaign = campaign ?? random.skewed(below: world.campaigns)
        guard random.chance(world.personalLinks) else { return (campaign, campaign) }
        return (campaign, 1000 + clicks.count)
    }

    private mutating func appendClick(
        _ person: UInt64,
        _ device: Device,
        _ place: NetworkLocation,
        _ browser: Int,
        _ link: (campaign: Int, url: Int),
        at seconds: Double
    ) {
        let system = device.platform == .ios ? device.os.majorMinorText(for: .ios) : "10; K"
        clicks.append(
            TracedClick(
                number: clicks.count,
                at: Self.moment(seconds),
                person: person,
                device: device,
                address: place.address,
                userAgent: "browser-\(browser) \(device.platform.rawValue) \(system)",
                campaign: link.campaign,
                url: link.url
            )
        )
    }

    private mutating func appendLaunch(
        _ person: UInt64,
        _ device: Device,
        _ place: NetworkLocation,
        at seconds: Double,
        token: Int?,
        truth: TracedLaunch.Truth
    ) {
        var sent = device
        if random.chance(world.misspelt) { sent.language = "xx" }
        let isHonest = random.chance(world.honestAgents)
        // The order of `LaunchSignals`: the form with the fewest components first.
        let forms = world.client == .hash ? [device.form] : device.forms.reversed()
        let system = isHonest ? Self.reported(device) : nil
        var launch = TracedLaunch(
            at: Self.moment(seconds),
            person: person,
            device: device,
            fingerprintText: sent.text(form: forms[0]),
            otherTexts: forms.dropFirst().map { sent.text(form: $0) },
            sendsSignals: world.client == .signals,
            address: place.address,
            userAgent: "app \(device.platform.rawValue) \(device.os.majorMinorText(for: device.platform))",
            release: world.client == .hash ? system : OSRelease(device.os, on: device.platform),
            token: token,
            truth: truth
        )
        launches.append(launch)
        if random.chance(world.retries) {
            var retry = launch
            retry.at = Self.moment(seconds + 3 + random.unit() * 40)
            retry.truth = .retry
            launches.append(retry)
        }
        guard random.chance(world.reinstalls) else { return }
        let pause = random.logNormal(median: 21_600, sigma: 1.2)
        let isApple = device.platform == .ios
        launch.at = Self.moment(seconds + pause)
        launch.address =
            world.networks.later(place, seconds: pause, of: person, isApple: isApple, &random).address
        launch.token = nil
        launch.truth = .reinstall
        launches.append(launch)
    }

    /// Returns the system as the default agent of an app's requests reports it.
    private static func reported(_ device: Device) -> OSRelease {
        guard device.platform == .ios else { return OSRelease(device.os, on: .android) }
        let minor = min(device.os.minor, 6)
        return OSRelease(platform: .ios, major: device.os.major, minor: minor, isAtLeast: minor == 6)
    }

    private static func moment(_ seconds: Double) -> Timestamp {
        beginning.advanced(byMilliseconds: Int64(seconds * 1000))
    }

    /// Returns all events before the end, with clicks numbered in order of time.
    private consuming func finished() -> [TraceEvent] {
        let end = Self.moment(Double(world.days) * Self.day)
        let order = clicks.indices.sorted { (clicks[$0].at, $0) < (clicks[$1].at, $1) }
        var numbers = [Int](repeating: 0, count: clicks.count)
        for (number, index) in order.enumerated() { numbers[index] = number }
        var events: [TraceEvent] = []
        for index in order {
            var click = clicks[index]
            click.number = numbers[index]
            events.append(.click(click))
        }
        for var launch in launches {
            if case .click(let index) = launch.truth { launch.truth = .click(numbers[index]) }
            launch.token = launch.token.map { numbers[$0] }
            events.append(.launch(launch))
        }
        return events.filter { $0.at < end }.enumerated()
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }
}
