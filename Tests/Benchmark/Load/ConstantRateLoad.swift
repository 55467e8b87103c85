import Attribution
import CLinux
import Glibc
import Support

/// Sends the requests of a ``ConstantRatePlan`` on one thread, which waits for responses and for the time of the next
/// request.
package final class ConstantRateLoad {
    private let plan: ConstantRatePlan
    private let epoll: Int32
    private var connections: [LoadConnection] = []
    /// The numbers of the connections without a request under way.
    private var free: [Int] = []
    private var misses: RequestPattern
    /// The pattern of clicks; for ``ConstantRatePlan/Kind/matches`` and
    /// ``ConstantRatePlan/Kind/missesAndMatches``, the pattern of checks that match clicks.
    private var made: RequestPattern
    /// The pattern of checks that match clicks of the past.
    private var launches: RequestPattern
    private var random: SeededGenerator
    private var latencies: Latencies
    private var sent = 0
    private var failures = 0
    private let start: UInt64
    private let intended: Int

    package static func run(_ plan: ConstantRatePlan) throws -> ConstantRateResult {
        try ConstantRateLoad(plan).run()
    }

    private init(_ plan: ConstantRatePlan) throws {
        self.plan = plan
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        random = SeededGenerator(seed: UInt64(plan.series))
        let (key, time) = (plan.key, plan.history.map { Timestamp(milliseconds: $0.lowerBound) })
        let series = SampleRequests.hexadecimal(plan.series)
        misses = RequestPattern(prefix: "ffffffff") { SampleRequests.check($0, key: key) }
        launches = RequestPattern(prefix: series, time: time) {
            SampleRequests.check($0, key: key, time: time)
        }
        made = RequestPattern(prefix: series, time: time) {
            plan.kind == .missesAndMatches || plan.kind == .matches
                ? SampleRequests.check($0, key: key) : SampleRequests.click($0, key: key, time: time)
        }
        intended = Int(plan.rate * plan.seconds)
        latencies = Latencies(capacity: intended)
        start = Stopwatch.nanoseconds + 20_000_000
        for number in 0..<plan.connections {
            connections.append(LoadConnection())
            try open(number)
            free.append(number)
        }
    }

    private func run() throws -> ConstantRateResult {
        let end = intendedAt(intended) + UInt64(plan.patience * 1e9)
        var now = Stopwatch.nanoseconds
        while now < end, sent < intended || free.count < connections.count {
            try sendDue(at: now)
            wait(from: now)
            try receive()
            now = Stopwatch.nanoseconds
        }
        giveUp(at: now)
        let isComplete = sent == intended && free.count == connections.count
        let length = isComplete ? plan.seconds : Double(max(now - start, 1)) / 1e9
        let quantiles = latencies.quantiles(0.99, 1)
        let answered = latencies.count - failures
        return ConstantRateResult(
            intended: intended,
            answered: answered,
            failures: failures,
            perSecond: Double(answered) / length,
            p99: quantiles[0],
            longest: quantiles[1]
        )
    }

    private func intendedAt(_ number: Int) -> UInt64 { start + UInt64(Double(number) / plan.rate * 1e9) }

    private func open(_ number: Int) throws {
        try connections[number].open(port: plan.port)
        let descriptor = connections[number].descriptor
        _ = linux_epoll_control(epoll, EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue, UInt64(number))
    }

    /// Sends the requests that are due, as long as a connection is free.
    private func sendDue(at now: UInt64) throws {
        while sent < intended, let number = free.last {
            let intendedAt = intendedAt(sent)
            guard intendedAt <= now else { return }
            free.removeLast()
            let request = request(sent)
            if !connections[number].send(request) {
                try reopen(number)
                _ = connections[number].send(request)
            }
            connections[number].intendedAt = intendedAt
            sent += 1
        }
    }

    private func request(_ number: Int) -> [UInt8] {
        var madeNumber = number
        switch plan.kind {
        case .clicks: break
        case .matches: madeNumber = plan.first + number
        case .clicksOfThePast: return requestOfThePast(number)
        case .misses: madeNumber = -1
        case .missesAndMatches:
            let clicks = Double(number) * plan.clickRate / plan.rate - 5 * plan.clickRate
            madeNumber = number.isMultiple(of: 2) ? -1 : Int(clicks)
        }
        guard madeNumber >= 0 else {
            misses.set(random.next())
            return misses.bytes
        }
        made.set(UInt64(madeNumber))
        return made.bytes
    }

    /// Returns a click; each eleventh request after the first 60 is a check of a click that the server has recorded.
    private func requestOfThePast(_ number: Int) -> [UInt8] {
        guard let history = plan.history else { return [] }
        let span = Double(history.upperBound - history.lowerBound)
        let time = history.lowerBound + Int64(span * Double(number) / Double(max(intended - 1, 1)))
        guard number % 11 == 10, number > 60 else {
            made.set(UInt64(number), at: Timestamp(milliseconds: time))
            return made.bytes
        }
        launches.set(UInt64(number - 60), at: Timestamp(milliseconds: time))
        return launches.bytes
    }

    /// Sleeps until a response arrives or the next request is due.
    private func wait(from now: UInt64) {
        let next = sent < intended && !free.isEmpty ? intendedAt(sent) : now + 100_000_000
        guard next > now else { return }
        _ = linux_wait_readable(epoll, next - now)
    }

    private func receive() throws {
        var events = [linux_event](repeating: linux_event(), count: 256)
        // The kernel writes as many events as there is room for.
        let count = unsafe events.withUnsafeMutableBufferPointer {
            unsafe linux_epoll_wait(epoll, $0.baseAddress, Int32($0.count), 0)
        }
        for event in events.prefix(Int(max(count, 0))) {
            let number = Int(event.token)
            switch connections[number].receive() {
            case .unfinished: break
            case .answered(let isGood): finish(number, isGood: isGood)
            case .ended:
                if connections[number].intendedAt != nil { finish(number, isGood: false) }
                try reopen(number)
            }
        }
    }

    private func finish(_ number: Int, isGood: Bool) {
        guard let intendedAt = connections[number].intendedAt else { return }
        record(since: intendedAt, at: Stopwatch.nanoseconds, isGood: isGood)
        connections[number].intendedAt = nil
        free.append(number)
    }

    private func record(since intendedAt: UInt64, at now: UInt64, isGood: Bool) {
        latencies.add(microseconds: (max(now, intendedAt) - intendedAt) / 1000)
        if !isGood { failures += 1 }
    }

    private func reopen(_ number: Int) throws {
        connections[number].close()
        try open(number)
    }

    /// Counts the requests without a response, and those never sent, as failures that waited until now.
    private func giveUp(at now: UInt64) {
        for connection in connections {
            if let intendedAt = connection.intendedAt { record(since: intendedAt, at: now, isGood: false) }
        }
        for number in sent..<max(sent, intended) { record(since: intendedAt(number), at: now, isGood: false) }
    }
}
