import Attribution
import Testing

/// Tests the attempts, the verdicts on answers, and the limits for failing endpoints.
@Suite("The schedule of postbacks")
struct PostbackScheduleTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)

    @Test("has ten attempts over 75 hours and 35 minutes, and each pause varies by a tenth")
    func pauses() {
        let minutes = PostbackSchedule.pauses.reduce(0, +) / 60
        #expect(minutes == 75 * 60 + 35)
        for attempts in 1..<10 {
            let exact = PostbackSchedule.pauses[attempts] * 1000
            let all = [0, .max / 2, .max].map { PostbackSchedule.pause(after: attempts, random: $0) ?? 0 }
            #expect(all[0] == exact * 9 / 10)
            #expect(abs(all[1] - exact) <= 1)
            #expect(all[2] <= exact * 11 / 10 && all[2] > exact * 109 / 100)
        }
        #expect(PostbackSchedule.pause(after: 10, random: 0) == nil)
    }

    @Test(
        "only a status from 200 to 299 is a success, and 410 ends the attempts",
        arguments: [199, 200, 204, 299, 300, 301, 307, 400, 404, 410, 500]
    )
    func success(status: Int) {
        let verdict = PostbackVerdict(PostbackAnswer(status: status), attempts: 1, at: Self.now, random: 0)
        #expect((verdict.delivery == .delivered) == (200...299).contains(status))
        #expect(verdict.isGone == (status == 410))
        #expect((verdict.delivery == .givenUp) == (status == 410))
        #expect((PostbackAnswer(status: status).problem == nil) == (200...299).contains(status))
    }

    @Test("the tenth failure is the last")
    func last() {
        let failure = PostbackAnswer(failure: "the name is unknown")
        let ninth = PostbackVerdict(failure, attempts: 9, at: Self.now, random: 0)
        #expect(ninth.delivery == .retry(at: Self.now.advanced(byMilliseconds: 86_400_000 * 9 / 10)))
        #expect(PostbackVerdict(failure, attempts: 10, at: Self.now, random: 0).delivery == .givenUp)
    }

    @Test(
        "Retry-After in seconds or as a date moves the attempt and pauses the endpoint",
        arguments: [
            ("120", 120), ("Tue, 14 Nov 2023 22:15:20 GMT", 120), ("99999999", 86_400),
            ("Tuesday, 14-Nov-23 22:15:20 GMT", 120), ("Tue Nov 14 22:15:20 2023", 120),
            ("Fri Dec  1 22:15:20 2023", 86_400),
        ]
    )
    func retryAfter(text: String, seconds: Int64) {
        var answer = PostbackAnswer(status: 429)
        answer.retryAfter = text
        let verdict = PostbackVerdict(answer, attempts: 1, at: Self.now, random: 0)
        let end = Self.now.advanced(byMilliseconds: seconds * 1000)
        #expect(verdict.delivery == .retry(at: end))
        #expect(verdict.pausedUntil == end)
    }

    @Test(
        "an unreadable or early Retry-After does not change the schedule",
        arguments: [
            "soon", "-5", "1", "Monday, 14-Nov-94 22:15:20 GMT", "Tue, 14 Nov 2023 22:15:20 +0000",
            "Tue Nov 31 22:15:20 2023",
        ]
    )
    func earlyRetry(text: String) {
        var answer = PostbackAnswer(status: 503)
        answer.retryAfter = text
        let verdict = PostbackVerdict(answer, attempts: 2, at: Self.now, random: 0)
        #expect(verdict.delivery == .retry(at: Self.now.advanced(byMilliseconds: 270_000)))
    }

    @Test("after five failures in a row, an endpoint gets one call at a time, with a pause before each")
    func circuit() {
        let failed = PostbackVerdict(PostbackAnswer(status: 500), attempts: 1, at: Self.now, random: 0)
        var circuit = PostbackCircuit()
        for _ in 0..<4 { circuit.note(failed, at: Self.now) }
        #expect(circuit.limit(at: Self.now) == 4)
        var pauses: [Int64] = []
        for _ in 0..<6 {
            circuit.note(failed, at: Self.now)
            #expect(circuit.limit(at: Self.now) == 0)
            let end = circuit.pausedUntil ?? Self.now
            #expect(circuit.limit(at: end) == 1)
            pauses.append(end.milliseconds(since: Self.now))
        }
        #expect(pauses == [3750, 7500, 15_000, 30_000, 60_000, 60_000])
        let answered = PostbackVerdict(PostbackAnswer(status: 204), attempts: 1, at: Self.now, random: 0)
        circuit.note(answered, at: Self.now)
        #expect(circuit == PostbackCircuit())
    }

    @Test("a call that fails without a pause does not shorten the pause of a call that ended before it")
    func overlapping() {
        var slowing = PostbackAnswer(status: 429)
        slowing.retryAfter = "3600"
        let slowed = PostbackVerdict(slowing, attempts: 1, at: Self.now, random: 0)
        let failed = PostbackVerdict(PostbackAnswer(status: 500), attempts: 1, at: Self.now, random: 0)
        var circuit = PostbackCircuit()
        for verdict in [slowed, failed, failed] { circuit.note(verdict, at: Self.now) }
        #expect(circuit.limit(at: Self.now.advanced(byMilliseconds: 3_599_999)) == 0)
        #expect(circuit.limit(at: Self.now.advanced(byMilliseconds: 3_600_000)) == 4)
    }

    @Test("a pause is ignored if its end is so late that the clock must have been ahead")
    func leap() {
        var circuit = PostbackCircuit()
        circuit.pausedUntil = Self.now.advanced(byMilliseconds: PostbackSchedule.leapMilliseconds + 1)
        #expect(circuit.limit(at: Self.now) == 4)
    }

    @Test("an endpoint is disabled after five days and ten failures without a success, and not before")
    func disabling() {
        let failed = PostbackVerdict(PostbackAnswer(status: 500), attempts: 1, at: Self.now, random: 0)
        var circuit = PostbackCircuit()
        for _ in 0..<9 { circuit.note(failed, at: Self.now) }
        let end = Self.now.advanced(byMilliseconds: 5 * 86_400_000)
        #expect(!circuit.mustDisable(at: end), "nine failures are too few")
        circuit.note(failed, at: Self.now)
        #expect(circuit.mustDisable(at: end))
        #expect(!circuit.mustDisable(at: end.advanced(byMilliseconds: -1)))
    }
}
