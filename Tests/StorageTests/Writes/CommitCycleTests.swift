import Attribution
import Storage
import Testing

@Suite("The commit cycle")
struct CommitCycleTests {
    /// An event, and the action with which the cycle must answer it.
    struct Step: Sendable {
        /// The event; nil means that writes wait for the start of a cycle.
        let event: CommitCycle.Event?
        let time: UInt64
        let action: CommitCycle.Action

        init(_ event: CommitCycle.Event?, at time: UInt64 = 0, _ action: CommitCycle.Action) {
            (self.event, self.time, self.action) = (event, time, action)
        }
    }
    struct Course: Sendable, CustomTestStringConvertible {
        let name: String
        var limit = 4
        let steps: [Step]
        var testDescription: String { name }
    }

    static let defect = EngineFailure(
        StoreError(.defect, "a statement failed"),
        endsBatch: false,
        endsConnection: false
    )
    static let full = EngineFailure(StoreError(.full, "full"), endsBatch: true, endsConnection: false)
    static let locked = EngineFailure(StoreError(.locked, "locked"), endsBatch: true, endsConnection: false)
    static let broken = EngineFailure(
        StoreError(.inputOutput, "a sync failed"),
        endsBatch: true,
        endsConnection: true
    )
    static let unopened = StoreError(.inputOutput, "the database could not be opened again yet")

    /// The steps of two writes up to the point at which the cycle takes further writes.
    static let twoDone: [Step] = [
        Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(2), .prepare(0..<2)),
        Step(.done, .perform(0)), Step(.done, .perform(1)),
    ]

    static let courses = [
        Course(
            name: "writes that wait share a commit, and are answered after it",
            steps: twoDone + [
                Step(.done, .take(atMost: 2)), Step(.taken(0), .commit), Step(.done, .answer),
                Step(.done, .tidy), Step(.done, .rest),
            ]
        ),
        Course(
            name: "a write that arrives within 4 ms joins the transaction",
            steps: twoDone + [
                Step(.done, at: 3_999_999, .take(atMost: 2)), Step(.taken(1), .prepare(2..<3)),
                Step(.done, .perform(2)),
                Step(.done, at: 4_000_000, .commit),
            ]
        ),
        Course(
            name: "no transaction is larger than its limit",
            limit: 2,
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 2)), Step(.taken(2), .prepare(0..<2)),
                Step(.done, .perform(0)),
                Step(.done, .perform(1)), Step(.done, .commit),
            ]
        ),
        Course(
            name: "pending updates may make a transaction larger by one write",
            limit: 2,
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 2)), Step(.taken(3), .prepare(0..<3)),
                Step(.done, .perform(0)),
                Step(.done, .perform(1)), Step(.done, .perform(2)), Step(.done, .commit),
            ]
        ),
        Course(
            name: "a write that was withdrawn before it was taken leaves an empty transaction",
            steps: [Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(0), .commit)]
        ),
        Course(
            name: "a write that is refused before it has changed anything is skipped",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(2), .prepare(0..<2)),
                Step(.done, .perform(0)),
                Step(.refused(hasChanged: false), .perform(1)), Step(.done, .take(atMost: 2)),
            ]
        ),
        Course(
            name: "writes are repeated within savepoints after one fails, and only that write is refused",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(3), .prepare(0..<3)),
                Step(.done, .perform(0)),
                Step(.done, .perform(1)), Step(.failed(defect), .rollback), Step(.done, .begin),
                Step(.done, .savepoint), Step(.done, .prepare(0..<1)), Step(.done, .perform(0)),
                Step(.done, .release),
                Step(.done, .savepoint), Step(.done, .prepare(1..<2)), Step(.done, .perform(1)),
                Step(.failed(defect), .refuse(1, defect.error)), Step(.done, .undo), Step(.done, .savepoint),
                Step(.done, .prepare(2..<3)), Step(.done, .perform(2)), Step(.done, .release),
                Step(.done, .take(atMost: 1)),
                Step(.taken(0), .commit), Step(.done, .answer), Step(.done, .tidy), Step(.done, .rest),
            ]
        ),
        Course(
            name: "a write that is refused after a change is undone without the other writes",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(1), .prepare(0..<1)),
                Step(.done, .perform(0)),
                Step(.refused(hasChanged: true), .rollback), Step(.done, .begin), Step(.done, .savepoint),
                Step(.done, .prepare(0..<1)), Step(.done, .perform(0)),
                Step(.refused(hasChanged: true), .undo),
                Step(.done, .take(atMost: 3)),
            ]
        ),
        Course(
            name: "a database that fails refuses the whole batch",
            steps: twoDone + [
                Step(.failed(full), .rollback), Step(.done, .refuseBatch(full.error)), Step(.done, .rest),
            ]
        ),
        Course(
            name: "a database that fails during the repetition refuses the whole batch, too",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(1), .prepare(0..<1)),
                Step(.done, .perform(0)),
                Step(.failed(defect), .rollback), Step(.done, .begin), Step(.done, .savepoint),
                Step(.failed(full), .rollback), Step(.done, .refuseBatch(full.error)),
            ]
        ),
        Course(
            name: "after a failed sync, a new connection is opened before any caller gets the error",
            steps: twoDone + [
                Step(.done, at: 4_000_000, .commit), Step(.failed(broken), .rollback), Step(.done, .reopen),
                Step(.done, .refuseBatch(broken.error)), Step(.done, .rest), Step(nil, .begin),
            ]
        ),
        Course(
            name: "a failed opening is repeated after 250 ms, and writes are refused meanwhile",
            steps: twoDone + [
                Step(.done, at: 4_000_000, .commit), Step(.failed(broken), .rollback), Step(.done, .reopen),
                Step(.failed(full), at: 5_000_000, .refuseBatch(broken.error)), Step(.done, .rest),
                Step(nil, at: 254_999_999, .refuseWaiting(unopened)), Step(.done, .rest),
                Step(nil, at: 255_000_000, .reopen),
                Step(.failed(full), at: 255_000_000, .refuseWaiting(full.error)), Step(.done, .rest),
                Step(nil, at: 505_000_000, .reopen), Step(.done, .begin),
            ]
        ),
        Course(
            name: "while another process has the lock, writes continue to wait",
            steps: [
                Step(nil, .begin), Step(.failed(locked), .rollback), Step(.done, .postpone(locked.error)),
                Step(.done, .rest),
            ]
        ),
        Course(
            name: "a transaction that cannot begin refuses all waiting writes",
            steps: [
                Step(nil, .begin), Step(.failed(full), .rollback), Step(.done, .refuseWaiting(full.error)),
                Step(.done, .rest),
            ]
        ),
        Course(
            name: "a failure after the commit refuses no write",
            steps: twoDone + [
                Step(.done, at: 4_000_000, .commit), Step(.done, .answer), Step(.done, .tidy),
                Step(.failed(full), .report(full.error)), Step(.done, .rest),
            ]
        ),
        Course(
            name: "a connection that is lost after the commit is opened again, and refuses no write",
            steps: twoDone + [
                Step(.done, at: 4_000_000, .commit), Step(.done, .answer), Step(.done, .tidy),
                Step(.failed(broken), .reopen), Step(.done, .report(broken.error)), Step(.done, .rest),
            ]
        ),
    ]

    @Test("the cycle answers each event with the right action", arguments: courses)
    func follows(_ course: Course) { course.expectActions(of: CommitCycle(limit: course.limit)) }
}

extension CommitCycleTests.Course {
    /// Expects that the cycle answers each event with its action.
    func expectActions(of cycle: CommitCycle) {
        var cycle = cycle
        for (number, step) in steps.enumerated() {
            let action =
                if let event = step.event { cycle.next(event, at: step.time) } else {
                    cycle.start(at: step.time)
                }
            #expect(action == step.action, "step \(number) of \"\(name)\"")
        }
    }
}
