/// The times of a delivery's attempts, and the limits for failing endpoints.
public enum PostbackSchedule {
    /// The pauses before the attempts, in seconds: 75 hours and 35 minutes in all.
    public static let pauses: [Int64] = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    /// A delivery is given up after this number of attempts.
    public static var maximumAttempts: Int { pauses.count }
    /// The longest pause that a response's `Retry-After` can cause, in seconds.
    public static let longestRetryAfter: Int64 = 86_400
    /// If a stored due time is more than this ahead, in milliseconds, the clock was set back after it was stored.
    public static let leapMilliseconds: Int64 = 100_000_000
    /// How long an endpoint must fail without a success before it is disabled, in milliseconds.
    public static let disablingMilliseconds: Int64 = 5 * 86_400_000

    /// Returns the pause after a failed attempt, in milliseconds; nil after the last one.
    ///
    /// - Parameters:
    ///   - attempts: the number of attempts made.
    ///   - word: a random number, which moves the pause by up to a tenth.
    /// - Returns: the pause.
    public static func pause(after attempts: Int, random word: UInt64) -> Int64? {
        guard attempts < maximumAttempts else { return nil }
        let share = Double(word >> 11) / Double(1 << 53)
        return Int64(Double(pauses[attempts]) * 1000 * (0.9 + 0.2 * share))
    }

    /// Reads `Retry-After`, seconds or a date, as milliseconds from `now`; nil for an unreadable text.
    public static func retryAfter(_ text: String, at now: Timestamp) -> Int64? {
        let seconds = Int64(text) ?? moment(text, at: now).map { $0.milliseconds(since: now) / 1000 }
        return seconds.map { min(max(0, $0), longestRetryAfter) * 1000 }
    }

    /// Reads a date in one of the three forms of RFC 9110 §5.6.7; nil for another form.
    ///
    /// The forms are `Wed, 21 Oct 2015 07:28:00 GMT`, `Wednesday, 21-Oct-15 07:28:00 GMT` and
    /// `Wed Oct 21 07:28:00 2015`.
    private static func moment(_ text: String, at now: Timestamp) -> Timestamp? {
        let parts = text.split { $0 == " " || $0 == "-" }.map(String.init)
        let isUnzoned = parts.count == 5
        guard isUnzoned || parts.count == 6 && parts[5] == "GMT" else { return nil }
        let (day, year, time) = isUnzoned ? (parts[2], parts[4], parts[3]) : (parts[1], parts[3], parts[4])
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let month = months.firstIndex(of: isUnzoned ? parts[1] : parts[2]) else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        let rest = "\(year)-\(number)-\(day.utf8.count == 1 ? "0" : "")\(day)T\(time)Z"
        guard year.utf8.count == 2 else { return Timestamp(iso8601: rest) }
        // A year of two digits that seems to be more than 50 years ahead is one of the previous century.
        guard let next = Timestamp(iso8601: "20\(rest)") else { return nil }
        return next.milliseconds(since: now) > 50 * 365 * 86_400_000 ? Timestamp(iso8601: "19\(rest)") : next
    }
}

/// The outcome of one call.
public struct PostbackAnswer: Equatable, Sendable {
    /// The status code; nil if there was no response.
    public var status: Int?
    /// Why there was no response, as a sentence without its full stop.
    public var failure: String?
    public var retryAfter: String?
    /// The start of the response's body, as text.
    public var body = ""
    /// How long the call took.
    public var milliseconds: Int64 = 0

    /// The largest number of bytes of a response's body that are stored.
    public static let maximumBodyLength = 1024

    public init(status: Int? = nil, failure: String? = nil) {
        (self.status, self.failure) = (status, failure)
    }

    public var isSuccess: Bool { status.map { (200...299).contains($0) } ?? false }

    /// What failed, in plain words; nil for a success.
    public var problem: String? {
        guard let status else { return failure ?? "there was no response" }
        switch status {
        case 200...299: return nil
        case 300...399: return "the response \(status) is a redirect, which is not followed"
        case 410: return "the response 410 means that the endpoint is gone"
        default: return "the response has the status \(status)"
        }
    }
}

/// The consequences of an attempt for its delivery and for its endpoint.
public struct PostbackVerdict: Equatable, Sendable {
    public enum Delivery: Equatable, Sendable {
        case delivered
        case retry(at: Timestamp)
        case givenUp
    }
    public let delivery: Delivery
    /// The time before which no call goes to the endpoint; nil for no pause.
    public var pausedUntil: Timestamp?
    /// Whether the endpoint responded 410 Gone.
    public var isGone = false

    /// Derives the consequences of an attempt from its outcome.
    ///
    /// - Parameters:
    ///   - answer: the outcome.
    ///   - attempts: the number of attempts, this one included.
    ///   - now: the time of the outcome.
    ///   - word: a random number for the schedule.
    public init(_ answer: PostbackAnswer, attempts: Int, at now: Timestamp, random word: UInt64) {
        guard !answer.isSuccess else {
            delivery = .delivered
            return
        }
        isGone = answer.status == 410
        let wanted = answer.retryAfter.flatMap { PostbackSchedule.retryAfter($0, at: now) }
        let isSlowing = answer.status.map { [429, 502, 503, 504].contains($0) } ?? false
        if let pause = wanted ?? (isSlowing ? 5000 : nil) {
            pausedUntil = now.advanced(byMilliseconds: pause)
        }
        guard !isGone, let pause = PostbackSchedule.pause(after: attempts, random: word) else {
            delivery = .givenUp
            return
        }
        delivery = .retry(at: now.advanced(byMilliseconds: max(pause, wanted ?? 0)))
    }
}

/// The failures of an endpoint since its last success, and the limits that follow from them.
public struct PostbackCircuit: Equatable, Sendable {
    /// The number of failures since the last success.
    public var failures: Int
    /// The time of the first failure since the last success; nil without a failure.
    public var failingSince: Timestamp?
    /// The time before which no call goes to the endpoint; nil for no pause.
    public var pausedUntil: Timestamp?

    /// After this many failures in a row, the endpoint gets one call at a time.
    public static let openingFailures = 5
    /// The maximum number of calls to one endpoint at a time.
    public static let concurrency = 4
    /// The minimum number of failures before an endpoint is disabled, regardless of the time since the first one.
    private static let disablingFailures = 10
    private static let longestPause: Int64 = 60_000

    public init(failures: Int = 0, failingSince: Timestamp? = nil) {
        (self.failures, self.failingSince) = (failures, failingSince)
    }

    public var isOpen: Bool { failures >= Self.openingFailures }

    /// Returns the maximum number of calls to the endpoint at a time.
    public func limit(at now: Timestamp) -> Int {
        if let pausedUntil, pausedUntil > now,
            pausedUntil.milliseconds(since: now) <= PostbackSchedule.leapMilliseconds
        {
            return 0
        }
        return isOpen ? 1 : Self.concurrency
    }

    /// Records the verdict on an attempt.
    public mutating func note(_ verdict: PostbackVerdict, at now: Timestamp) {
        guard verdict.delivery != .delivered else {
            self = PostbackCircuit()
            return
        }
        failures += 1
        failingSince = failingSince ?? now
        var pause = verdict.pausedUntil
        // Calls that were under way together end in any order, and no failure shortens the pause that another one caused.
        if limit(at: now) == 0, let pausedUntil { pause = max(pause ?? pausedUntil, pausedUntil) }
        if isOpen {
            // Calls to a failing endpoint are rare, so that it takes few threads and its deliveries use few attempts.
            let step = Self.longestPause >> max(0, 4 - (Int64(failures) - Int64(Self.openingFailures)))
            let next = now.advanced(byMilliseconds: step)
            pause = max(pause ?? next, next)
        }
        pausedUntil = pause
    }

    /// Returns whether the endpoint must be disabled: ten failures or more, over five days, without a success.
    public func mustDisable(at now: Timestamp) -> Bool {
        guard failures >= Self.disablingFailures, let failingSince else { return false }
        return now.milliseconds(since: failingSince) >= PostbackSchedule.disablingMilliseconds
    }
}
