import Attribution
import Storage
import Testing

@Suite("Batches that are repeated or in doubt")
struct RepeatedBatchTests {
    typealias Course = CommitCycleTests.Course
    typealias Step = CommitCycleTests.Step

    static let duplicate = failure(.conflict, "two servers inserted one row", mayRepeat: true)
    static let cut = failure(.inputOutput, "the connection was cut", endsConnection: true, mayRepeat: true)
    static let unknown = failure(.inputOutput, "cut during the commit", endsConnection: true, isInDoubt: true)
    static let repeatable = failure(
        .inputOutput,
        "cut during the commit",
        endsConnection: true,
        mayRepeat: true,
        isInDoubt: true
    )

    private static func failure(
        _ code: StoreError.Code,
        _ explanation: String,
        endsConnection: Bool = false,
        mayRepeat: Bool = false,
        isInDoubt: Bool = false
    ) -> EngineFailure {
        EngineFailure(
            StoreError(code, explanation),
            endsBatch: true,
            endsConnection: endsConnection,
            mayRepeat: mayRepeat,
            isInDoubt: isInDoubt
        )
    }

    /// The steps of a transaction, up to its commit, that takes two writes at its start and no others.
    static let twoCommitted: [Step] = [Step(nil, .begin)] + twoTaken
    static let twoTaken: [Step] = [
        Step(.done, .take(atMost: 4)), Step(.taken(2), .prepare(0..<2)), Step(.done, .perform(0)),
        Step(.done, .perform(1)), Step(.done, .commit),
    ]
    /// The steps that repeat two writes, up to the commit.
    static let twoAgain: [Step] = [
        Step(.done, .begin), Step(.done, .prepare(0..<2)), Step(.done, .perform(0)), Step(.done, .perform(1)),
        Step(.done, .commit),
    ]
    static let answered: [Step] = [
        Step(.done, .answer), Step(.done, .tidy), Step(.done, .rest), Step(nil, .begin),
    ]
    static let pause = CommitCycle.Action.pause(250_000_000)

    static let repetitions = [
        Course(
            name: "a transaction that takes writes only at its beginning commits them at once",
            steps: twoCommitted + answered
        ),
        Course(
            name: "a batch that conflicted with another server's commit is done again as a whole",
            steps: twoCommitted + [Step(.failed(duplicate), .rollback)] + twoAgain + answered
        ),
        Course(
            name:
                "after two repetitions the writes are done one by one, and only the one that fails is refused",
            steps: twoCommitted + [Step(.failed(duplicate), .rollback)] + twoAgain
                + [Step(.failed(duplicate), .rollback)] + twoAgain + [
                    Step(.failed(duplicate), .rollback), Step(.done, .begin), Step(.done, .savepoint),
                    Step(.done, .prepare(0..<1)), Step(.done, .perform(0)), Step(.done, .release),
                    Step(.failed(CommitCycleTests.defect), .refuse(0, CommitCycleTests.defect.error)),
                    Step(.done, .undo), Step(.done, .savepoint), Step(.done, .prepare(1..<2)),
                    Step(.done, .perform(1)), Step(.done, .release), Step(.done, .commit),
                ] + answered
        ),
        Course(
            name: "a batch that fails one by one too is refused, and the next batch has all its repetitions",
            steps: twoCommitted + [Step(.failed(duplicate), .rollback)] + twoAgain
                + [Step(.failed(duplicate), .rollback)] + twoAgain + [
                    Step(.failed(duplicate), .rollback), Step(.done, .begin), Step(.done, .savepoint),
                    Step(.failed(duplicate), .rollback), Step(.done, .refuseBatch(duplicate.error)),
                    Step(.done, .rest),
                ] + twoCommitted + [Step(.failed(duplicate), .rollback)] + twoAgain + answered
        ),
        Course(
            name: "a failure while the batch is read ahead repeats it, too",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(2), .prepare(0..<2)),
                Step(.failed(duplicate), .rollback),
            ] + twoAgain + answered
        ),
        Course(
            name: "if reading ahead fails for a batch of one write, the write is tried alone and refused",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(1), .prepare(0..<1)),
                Step(.failed(CommitCycleTests.defect), .rollback), Step(.done, .begin),
                Step(.done, .savepoint), Step(.done, .prepare(0..<1)),
                Step(.failed(CommitCycleTests.defect), .refuse(0, CommitCycleTests.defect.error)),
                Step(.done, .undo), Step(.done, .commit),
            ]
        ),
        Course(
            name: "a batch whose connection was lost is done again on another connection",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(2), .prepare(0..<2)),
                Step(.failed(cut), .rollback), Step(.done, .reopen),
                Step(.reopened(.rolledBack), .begin), Step(.done, .prepare(0..<2)),
                Step(.done, .perform(0)), Step(.done, .perform(1)), Step(.done, .commit),
            ] + answered
        ),
        Course(
            name: "a batch is refused if there is no other connection",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(2), .prepare(0..<2)),
                Step(.failed(cut), .rollback), Step(.done, .reopen),
                Step(.failed(unknown), at: 5, .refuseBatch(cut.error)), Step(.done, .rest),
                Step(nil, at: 250_000_005, .reopen), Step(.reopened(.rolledBack), .begin),
            ]
        ),
        Course(
            name: "waiting writes survive a connection that was lost while no write waited",
            steps: [
                Step(nil, .begin), Step(.failed(cut), .rollback), Step(.done, .reopen),
                Step(.reopened(.rolledBack), .begin),
            ] + twoTaken + answered
        ),
        Course(
            name: "waiting writes are refused if no connection lasts",
            steps: [
                Step(nil, .begin), Step(.failed(cut), .rollback), Step(.done, .reopen),
                Step(.reopened(.rolledBack), .begin), Step(.failed(cut), .rollback), Step(.done, .reopen),
                Step(.reopened(.rolledBack), .begin), Step(.failed(cut), .rollback), Step(.done, .reopen),
                Step(.reopened(.rolledBack), .refuseWaiting(cut.error)), Step(.done, .rest),
            ]
        ),
    ]

    static let doubts = [
        Course(
            name: "a commit that another connection finds done is answered",
            steps: twoCommitted + [
                Step(.failed(unknown), .doubt(unknown.error)), Step(.done, .reopen),
                Step(.reopened(.committed), .answer), Step(.done, .tidy), Step(.done, .rest),
            ]
        ),
        Course(
            name: "a commit that is done, but that readers may not see yet, refuses the waiting callers",
            steps: twoCommitted + [
                Step(.failed(unknown), .doubt(unknown.error)), Step(.done, .reopen),
                Step(.reopened(.unseen), .refuseUnseen(unknown.error)), Step(.done, .rest),
                Step(nil, .begin),
            ]
        ),
        Course(
            name: "a commit that was not done refuses the batch",
            steps: twoCommitted + [
                Step(.failed(unknown), .doubt(unknown.error)), Step(.done, .reopen),
                Step(.reopened(.rolledBack), .refuseBatch(unknown.error)), Step(.done, .rest),
                Step(nil, .begin),
            ]
        ),
        Course(
            name: "a commit that was not done is repeated, if the engine says so",
            steps: twoCommitted + [
                Step(.failed(repeatable), .doubt(repeatable.error)), Step(.done, .reopen),
                Step(.reopened(.rolledBack), .begin),
            ] + twoAgain.dropFirst() + answered
        ),
        Course(
            name: "callers stay unanswered until a connection exists, however long that takes",
            steps: twoCommitted + [
                Step(.failed(unknown), .doubt(unknown.error)), Step(.done, .reopen),
                Step(.failed(cut), pause), Step(.done, .reopen), Step(.failed(unknown), pause),
                Step(.done, .reopen), Step(.failed(CommitCycleTests.full), pause), Step(.done, .reopen),
                Step(.reopened(.committed), .answer), Step(.done, .tidy), Step(.done, .rest),
                Step(nil, .begin),
            ]
        ),
        Course(
            name: "a commit without writes leaves no doubt",
            steps: [
                Step(nil, .begin), Step(.done, .take(atMost: 4)), Step(.taken(0), .commit),
                Step(.failed(unknown), .rollback), Step(.done, .reopen),
                Step(.reopened(.rolledBack), .refuseWaiting(unknown.error)), Step(.done, .rest),
            ]
        ),
    ]

    @Test(
        "the cycle repeats a batch, or waits until the batch's outcome is known",
        arguments: repetitions + doubts
    )
    func follows(_ course: Course) {
        course.expectActions(of: CommitCycle(limit: course.limit, gatheringNanoseconds: 0))
    }
}
