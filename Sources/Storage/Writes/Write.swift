public import Attribution

/// A change that a loop or a job passes to the thread that writes.
///
/// It is a value, so that it can be done again after its transaction was rolled back.
public enum Write: Sendable {
    case click(NewClick)
    case claim(ClaimRequest)
    /// The answer is ``Written/events(_:)``.
    case events(EventBatch)
    case updates(PendingUpdates.Content)
    case directory(DirectoryChange, by: AuditActor)
    case links(LinkChange, by: AuditActor)
    case learning(LearningChange)
    case keys(KeyChange)
    case sessions(SessionChange)
    case postbacks(PostbackChange, by: AuditActor)
    // It is `indirect`, because it is large and the queue copies writes.
    indirect case applePostbacks(ApplePostbackChange)
    /// Writes an entry of the audit log for a change outside of the database.
    case audit(AuditedChange, by: AuditActor)
    /// The answer is ``Written/erased(_:next:)``.
    case erase(ErasureSlice)
    case job(JobStep)
    /// Changes nothing; when it is answered, everything queued before it is on disk.
    case barrier
    /// Runs a closure on the thread that writes, for tests that block the thread or make it fail.
    case hold(@Sendable () -> Void)
}

/// The outcome of a write; a refused write has changed nothing.
public enum Written: Sendable {
    case done
    case click(RecordOutcome)
    case claim(WrittenClaim)
    /// True or false, for the writes whose comments document what it means.
    case flag(Bool)
    /// The last counter key that was read; nil if the family has no further keys.
    case faded(upTo: Int64?)
    /// Where the compaction of the day continues; nil if the day is complete.
    case compacted(upTo: CompactionPosition?)
    case retention(RetentionSlice)
    case serverKeys(ServerKeyRecognition)
    case erased(PrivacyCounts, next: Int64?)
    /// The id of a new event.
    case published(OutboxEventID)
    /// The number of deliveries, and the last event if there may be more.
    case replayed(count: Int, upTo: OutboxEventID?)
    /// The names of the leases that were taken, and whether there is more to delete.
    case leases(Set<String>, isMore: Bool)
    case applePostback(ApplePostbackOutcome)
    case events([EventOutcome])
    case linkRefused(LinkStoreError)
    case refused(StoreError)

    /// Whether the write was refused, so that its changes must be undone.
    var isRefused: Bool {
        switch self {
        case .refused, .linkRefused: true
        default: false
        }
    }
}

/// The claim of a click for a check, as plain values that are computed on the check's loop.
///
/// It is a class because it is larger than other writes, and the queue copies writes.
public final class ClaimRequest: Sendable {
    /// The click to claim; the second half of its identifier is 0 if it is unknown.
    public let click: ClickID
    /// The decision for this click.
    let choice: ClickChoice
    public let app: AppID
    public let isTest: Bool
    public let at: Timestamp
    /// The hashes of the install id under each server key, the current one first; empty without an install id.
    public let installs: [KeyedHash]
    public let caller: KeyedHash
    /// The launch's fingerprints and advertising ids, each under each server key.
    let asked: [KeyedHash]
    /// The launch's first fingerprint under each server key, to find the visit's earlier clicks that were stored under
    /// another key; empty if there is one server key.
    let firstUnderEachKey: [KeyedHash]
    /// The check's record, stored if the click is claimed.
    let record: CheckFacts
    /// The launch's group for match rates.
    let launch: DriftGroup
    /// The app's windows.
    let windows: MethodWindows

    /// - Parameters:
    ///   - click: the click to claim. The choice contains it, or only its destination.
    ///   - choice: the decision.
    ///   - check: the check that claims.
    ///   - basis: the facts that the decision is based on.
    init(_ click: ClickID, _ choice: ClickChoice, for check: Check, _ basis: CheckBasis) {
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
        windows = check.policy.windows
    }

    var platform: Platform { record.platform }

    /// The claim of the click.
    func claim(of click: Click) -> Claim {
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
    ///   - scope: the scope of the click.
    ///   - hashes: the hashes under which the click is stored. The row gets a hash that the launch has too, or else the
    ///     launch's first hash, so that a retry finds a lost answer. Empty for a click that only its token finds.
    /// - Returns: the row.
    func row(of claim: Claim, in scope: Scope, foundBy hashes: [KeyedHash]) -> ClaimRecord {
        let hash = asked.count > 1 ? asked.first(where: hashes.contains) ?? asked.first : asked.first
        return ClaimRecord(claim, scope, hash: hash, install: installs.first, caller: caller)
    }
}

/// The outcome of a claim in its transaction.
public struct WrittenClaim: Sendable {
    let outcome: ClaimOutcome
    /// Whether the click is lost unless this response is delivered.
    var mustBeDelivered = false

    /// The click, if it is lost unless this response is delivered.
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
    /// Creates the app and all keys, or nothing.
    case createApp(App, [APIKey])
    /// Refused if the current settings differ from `from`; never refused if `from` is nil.
    case updateApp(AppID, from: App.Settings?, to: App.Settings)
    case createKey(APIKey)
    case revokeKey(KeyID, at: Timestamp)
}

/// A change of links.
public enum LinkChange: Sendable {
    /// Creates all links or none.
    case create([NewLink])
    case update(Link, ifUpdatedAt: Timestamp?)
    case delete(LinkID)
}

/// A change of the learnt sums.
public enum LearningChange: Sendable {
    case add([LearntSlice])
    /// Deletes some of a scope's counters; ``Written/flag(_:)`` is true if there are more.
    case forget(Scope, limit: Int)
    /// Does what ``forget(_:limit:)`` does, and writes an entry of the audit log.
    case reset(Scope, AppID, limit: Int, by: AuditActor)
    /// Moves the start of learning back to this time, if the stored start is later because a clock was ahead.
    case beginEarlier(Scope, at: Timestamp)
    /// Reads up to `limit` counters of a family after a key, and deletes those that have faded.
    ///
    /// The answer is ``Written/faded(upTo:)``.
    case fade(Scope, CounterFamily, after: Int64, at: Timestamp, limit: Int)
    /// Deletes all but the largest counters of a family.
    case keepLargest(Int, of: Scope, CounterFamily)
    /// Makes the stored sums relative to a later time, before they become too large.
    case moveLandmark(Scope, to: Timestamp)
}

/// A change of the keys that the stored hashes need.
public enum KeyChange: Sendable {
    /// Stores the first server key as the current one.
    ///
    /// If it replaces another key, that key is stored as a former one, with the time. The call passes the check values of
    /// all keys in use, and returns ``Written/serverKeys(_:)``.
    case confirm([KeyedHash], at: Timestamp)
    /// Forgets a server key that no stored hash needs, by the first word of its check value.
    case forget(serverKey: UInt64)
    /// Forgets the days whose keys for addresses are no longer needed.
    case forgetAddressDays(before: Timestamp)
}

/// A bounded step of a background job.
public enum JobStep: Sendable {
    /// The answer is ``Written/retention(_:)``.
    case retention(RetentionStep)
    /// Stores that jobs used the wall clock at this time.
    case noteSettled(Timestamp)
    /// Compacts a day's counts by name from a position on, and stops after `nanoseconds`; if the day is complete, stores
    /// that.
    ///
    /// The answer is ``Written/compacted(upTo:)``.
    case compact(CompactionPosition, nanoseconds: UInt64)
    /// Takes or renews a lease; ``Written/flag(_:)`` is false while another process holds it.
    case takeLease(JobLease)
    /// Releases the lease of a job, and stores how far the job has got.
    case finish(JobName, holder: Int64, progress: Timestamp)
    /// Stores findings; ``Written/flag(_:)`` is false, and nothing is stored, if another process holds the lease.
    case drift(DriftDetector.Findings, of: Scope, end: Timestamp, holding: JobLease)
    /// Deletes some entries of the audit log from before a time, and some records of erasures from before another time;
    /// ``Written/flag(_:)`` is true if there may be more.
    case audit(before: Timestamp, erasedBefore: Timestamp, limit: Int)
    /// Stores reports of collisions.
    case collisions([(scope: Scope, report: CollisionReport)])
    /// The answer is ``Written/leases(_:isMore:)``.
    case postbacks(PostbackStep)
    /// Stores a comparison of policies.
    case policyGrid(PolicyGrid, of: Scope)
}

/// The bounds of a step that closes and deletes clicks.
public struct RetentionStep: Sendable {
    /// Clicks that expired before this are closed.
    let closingBefore: Timestamp
    let deadlines: RetentionDeadlines
    let now: Timestamp
    /// The maximum number of clicks in one step.
    let limit: Int
    /// The duration after which the step ends even if it is not done, in nanoseconds.
    let nanoseconds: UInt64
    /// Whether to store that jobs used the wall clock at `now`.
    let notesSettledClock: Bool
}

/// The outcome of a step of retention.
public struct RetentionSlice: Sendable {
    var closed: Int64 = 0
    var deleted: Int64 = 0
    var isMore = false
    /// Whether there is more to delete; clicks are deleted before any are closed.
    var isDeleting = false
    /// How long the next click to delete or close has been due, in milliseconds.
    var lag: Int64 = 0
}

extension StoreError {
    /// The engine answered a write with the outcome of another kind.
    public static let mismatch = StoreError(.defect, "a write was answered with the outcome of another kind")
}
