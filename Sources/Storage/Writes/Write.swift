public import Attribution

/// A change that a loop or a job hands to the thread that writes: a value, which says what is to be done and not how.
///
/// Each database does it in its own statements. A value can be done again from the start, when the transaction that it
/// was in is undone.
public enum Write: Sendable {
    case click(NewClick)
    case claim(ClaimRequest)
    case updates(PendingUpdates.Content)
    case directory(DirectoryChange)
    case links(LinkChange)
    case learning(LearningChange)
    case keys(KeyChange)
    case job(JobStep)
    /// Nothing: its answer says that all that was queued before is on disk.
    case barrier
    /// Runs a closure on the thread that writes, for tests that hold it or make it fail.
    case hold(@Sendable () -> Void)
}

/// The outcome of a write; one that was refused has changed nothing.
public enum Written: Sendable {
    case done
    case click(RecordOutcome)
    case claim(WrittenClaim)
    /// Whether there is more to do for the same write, or to keep what it brought.
    case flag(Bool)
    /// The last key that a fading looked at; nil after the last there is.
    case faded(upTo: Int64?)
    case retention(RetentionSlice)
    case serverKeys(ServerKeyRecognition)
    case linkRefused(LinkStoreError)
    case refused(StoreError)

    /// Whether the write was refused, and its changes are to be undone.
    var isRefused: Bool {
        switch self {
        case .refused, .linkRefused: true
        default: false
        }
    }
}

/// A click that a check asks for, and what is stored with its claim: plain values, made on the check's loop.
///
/// A class, because it passes through the queue and is larger than other writes.
public final class ClaimRequest: Sendable {
    /// Of its identifier, the first half may be all that is known.
    public let click: ClickID
    /// What the answer says of it.
    public let choice: ClickChoice
    public let app: AppID
    public let isTest: Bool
    public let at: Timestamp
    /// See ``Check/installs``.
    public let installs: [KeyedHash]
    public let caller: KeyedHash
    /// What the launch asked for, each fingerprint and advertising id under each server key.
    public let asked: [KeyedHash]
    /// Its first fingerprint under each server key, where there are several; duplicates are looked for under all of them.
    public let firstUnderEachKey: [KeyedHash]
    /// The check's record, stored if the click is claimed.
    public let record: CheckFacts
    /// What the launch is counted as in the watch on match rates.
    public let launch: DriftGroup

    /// - Parameters:
    ///   - click: the click, which the choice may name by its destination alone.
    ///   - choice: what was decided.
    ///   - check: the check that claims.
    ///   - basis: what it was decided from.
    public init(_ click: ClickID, _ choice: ClickChoice, for check: Check, _ basis: CheckBasis) {
        self.click = click
        self.choice = choice
        (app, isTest, at) = (check.app, check.isTest, check.at)
        installs = check.installs
        caller = check.caller
        let ladder = check.ladder
        asked = ladder.fingerprints + ladder.advertisingIDs
        firstUnderEachKey = ladder.isUnderSeveralKeys ? ladder.firstUnderEachKey : []
        record = CheckFacts(matching: click, choice, basis, of: check)
        launch = check.launch.group
    }

    public var platform: Platform { record.platform }

    /// The claim of the click.
    public func claim(of click: Click) -> Claim {
        Claim(
            click: click,
            claimedAt: at,
            method: choice.method,
            confidence: choice.confidence,
            competingClicks: choice.competingClicks,
            isCampaignOnly: choice.isCampaignOnly
        )
    }

    /// Returns the row of the claim.
    ///
    /// - Parameters:
    ///   - claim: the claim.
    ///   - scope: whose it is.
    ///   - hashes: what the click is found by. The row has one that was asked for too, so that an answer which is lost is
    ///     found where the click's closed rows are; a click that is found by its token alone has none.
    /// - Returns: the row.
    public func row(of claim: Claim, in scope: Scope, foundBy hashes: [KeyedHash]) -> ClaimRecord {
        let hash = asked.count > 1 ? asked.first(where: hashes.contains) ?? asked.first : asked.first
        return ClaimRecord(claim, scope, hash: hash, install: installs.first, caller: caller)
    }
}

/// The outcome of a claim, and whether its answer is the only one there will be.
public struct WrittenClaim: Sendable {
    public let outcome: ClaimOutcome
    /// Whether the click is lost unless this answer is delivered.
    public let mustBeDelivered: Bool

    public init(_ outcome: ClaimOutcome, mustBeDelivered: Bool = false) {
        self.outcome = outcome
        self.mustBeDelivered = mustBeDelivered
    }

    /// The click whose only answer this is; nil where another can still be given.
    var undelivered: ClickID? {
        guard mustBeDelivered else { return nil }
        switch outcome {
        case .claimed(let claim), .replayed(let claim): return claim.click.id
        case .lost, .underWay: return nil
        }
    }
}

/// A change of apps or keys.
public enum DirectoryChange: Sendable {
    /// All of it or nothing.
    case createApp(App, [APIKey])
    case updateApp(AppID, App.Settings)
    case createKey(APIKey)
    case revokeKey(KeyID, at: Timestamp)
}

/// A change of links.
public enum LinkChange: Sendable {
    /// All of them or none.
    case create([NewLink])
    case update(Link, ifUpdatedAt: Timestamp?)
    case delete(LinkID)
}

/// A change of what is learnt.
public enum LearningChange: Sendable {
    case add([LearntSlice])
    /// Deletes some of what a scope's traffic has taught; ``Written/flag(_:)`` says whether there is more.
    case forget(Scope, limit: Int)
    /// Lets learning have begun no later than now: it began under a clock that was ahead.
    case beginEarlier(Scope, at: Timestamp)
    /// Deletes some of the counters of a family that have faded, or are too old to be read.
    ///
    /// It looks at the given number after a key; answered by ``Written/faded(upTo:)``.
    case fade(Scope, CounterFamily, after: Int64, at: Timestamp, limit: Int)
    /// Deletes all but the largest counters of a family.
    case keepLargest(Int, of: Scope, CounterFamily)
    /// Makes stored sums relative to a later time, before they grow too large.
    case moveLandmark(Scope, to: Timestamp)
}

/// A change of which keys the stored hashes need.
public enum KeyChange: Sendable {
    /// Remembers the server keys in use, the current one first; answered by ``Written/serverKeys(_:)``.
    case confirm([KeyedHash], at: Timestamp)
    /// Forgets a server key that no stored hash needs, by the first word of its check value.
    case forget(serverKey: UInt64)
    /// Forgets the days whose keys for addresses are no longer needed.
    case forgetAddressDays(before: Timestamp)
}

/// A bounded step of work beside requests.
public enum JobStep: Sendable {
    /// Answered by ``Written/retention(_:)``.
    case retention(RetentionStep)
    /// Compacts some counts by name of a day, until so many nanoseconds have passed, and stores when the day is done.
    case compact(day: Timestamp, nanoseconds: UInt64)
    /// Takes or renews a lease; ``Written/flag(_:)`` is false while another process holds it.
    case takeLease(JobLease)
    /// Gives up the lease of a job that has got as far as `progress`.
    case finish(JobName, holder: Int64, progress: Timestamp)
    /// ``Written/flag(_:)`` is false when another process holds the lease: nothing is kept then.
    case drift(DriftDetector.Findings, of: Scope, lookedAt: Timestamp, holding: JobLease)
    case collisions([ScopedCollisions])
}

/// A scope's report of collisions.
public struct ScopedCollisions: Sendable {
    public let scope: Scope
    public let report: CollisionReport

    public init(scope: Scope, report: CollisionReport) {
        self.scope = scope
        self.report = report
    }
}

/// The bounds of a step that closes and deletes clicks.
public struct RetentionStep: Sendable {
    /// Clicks that expired before this are closed.
    public let closingBefore: Timestamp
    /// Clicks that expired before this are deleted.
    public let deletingBefore: Timestamp
    public let now: Timestamp
    /// Clicks of one step, at most.
    public let limit: Int
    /// When a step that is not done ends all the same, in nanoseconds from its start.
    public let nanoseconds: UInt64
    /// Whether to store that jobs go by the wall clock.
    public let notesSettledClock: Bool

    public init(
        closingBefore: Timestamp,
        deletingBefore: Timestamp,
        now: Timestamp,
        limit: Int,
        nanoseconds: UInt64,
        notesSettledClock: Bool
    ) {
        self.closingBefore = closingBefore
        self.deletingBefore = deletingBefore
        self.now = now
        self.limit = limit
        self.nanoseconds = nanoseconds
        self.notesSettledClock = notesSettledClock
    }
}

/// The outcome of a step of retention.
public struct RetentionSlice: Sendable {
    public var closed: Int64 = 0
    public var deleted: Int64 = 0
    public var isMore = false
    /// Whether there is more to delete, which comes before all else.
    public var isDeleting = false
    /// How long the next click has been due, in milliseconds.
    public var lag: Int64 = 0

    public init() {}
}

extension StoreError {
    /// The engine answered a write with the outcome of another kind.
    public static let mismatch = StoreError(.defect, "a write was answered with the outcome of another kind")
}
