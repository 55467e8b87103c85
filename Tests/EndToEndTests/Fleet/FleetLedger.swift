#if PostgreSQL
import Attribution
import Foundation
import Server
import Support

/// What the clients of a fleet know of each click: whether it was acknowledged, and which caller got it.
///
/// A click is checked by some callers at once, each a phone with an address of its own; at most one may get it.
struct FleetLedger {
    /// How a launch is recognised.
    enum Way: Int {
        case fingerprint = 0
        case install = 1
        case token = 2
    }

    struct Entry {
        /// The number and the token of the acknowledged click.
        var number: Int64?
        var token = ""
        /// The program of the server that acknowledged the click.
        var program: URL?
        var callerCount = 0
        /// The callers that got the click.
        var matched: Set<Int> = []
        /// The callers whose check was decided.
        var decided: Set<Int> = []
        /// The requests without a reply.
        var underWay = 0
        /// Whether a check ended without a decision.
        var isDoubtful = false
        /// What was sent and received, for the report of a violation.
        var history: [String] = []
        /// When callers got "no match", in milliseconds since 1970.
        var noMatches: [Int64] = []

        var isOver: Bool { callerCount > 0 && decided.count == callerCount }
    }

    /// The requests contain a click's number plus this number, so that several loads can use one database.
    private let first: Int
    private let network: Int
    private(set) var entries: [Entry] = []
    /// The acknowledged clicks that no check has asked for.
    private(set) var unasked: [Int] = []
    /// The violations so far, in words: events that must never happen.
    private(set) var violations: [String] = []
    private(set) var acknowledgedCount = 0
    private(set) var matchCount = 0
    private(set) var refusalCount = 0
    private(set) var lostReplyCount = 0
    /// The numbers of clicks by the program that recorded them and the program that matched them.
    private(set) var matchCounts: [Programs: Int] = [:]

    struct Programs: Hashable {
        let recording: URL?
        let matching: URL?
    }

    /// - Parameter load: a number that no other load on the database has, from 1 to 80.
    init(_ load: Int) { (first, network) = (load * 1_000_000, 11 + load) }

    func fingerprint(of click: Int) -> String { EndToEndTests.fingerprint(first + click) }

    func journey(of click: Int) -> String { "j\(first + click)" }

    static func way(of click: Int) -> Way { Way(rawValue: click % 3) ?? .fingerprint }

    /// The address of a click's caller; the first caller has tapped the link.
    func address(of click: Int, _ caller: Int) -> String {
        "\(network).\(click >> 12 & 255).\(click >> 4 & 255).\((click & 15) * 16 + caller)"
    }

    mutating func report(_ violation: String) { violations.append(violation) }

    private mutating func report(_ violation: String, of click: Int) {
        report("\(violation) (click \(click): \(entries[click].history.joined(separator: ", ")))")
    }

    private mutating func note(_ event: String, of click: Int) {
        entries[click].history.append("\(WallClock.system.now().milliseconds % 1_000_000) \(event)")
    }

    mutating func makeClick() -> Int {
        entries.append(Entry())
        return entries.count - 1
    }

    /// Takes a click that no check has asked for; nil if at most `count` are left.
    mutating func takeUnasked(above count: Int, callerCount: Int, _ random: inout SeededGenerator) -> Int? {
        guard unasked.count > count else { return nil }
        let click = unasked.remove(at: Int.random(in: unasked.indices, using: &random))
        entries[click].callerCount = callerCount
        return click
    }

    mutating func didSend(check click: Int, from caller: Int, to server: Int) {
        entries[click].underWay += 1
        note("caller \(caller) asks server \(server)", of: click)
    }

    /// Records the reply to a click, and returns whether it is acknowledged.
    mutating func clickReply(_ reply: HTTPTestClient.Reply, to click: Int, by program: URL?) -> Bool {
        guard reply.status == 200 || reply.status == 201 else {
            refuse(reply, "click \(click)")
            return false
        }
        guard let id = reply.string("click_id").flatMap({ ClickID($0) }) else {
            report("click \(click) was acknowledged without an identifier: \(reply.text)")
            return true
        }
        entries[click].number = Int64(bitPattern: id.high)
        entries[click].token = reply.string("token") ?? ""
        entries[click].program = program
        unasked.append(click)
        acknowledgedCount += 1
        return true
    }

    /// Records the reply to a check, nil for a lost connection, and returns whether the check is decided.
    mutating func checkReply(
        _ reply: HTTPTestClient.Reply?,
        to click: Int,
        from caller: Int,
        by program: URL?
    ) -> Bool {
        entries[click].underWay -= 1
        let status = reply.map { "\($0.status) \($0.string("status") ?? "")" } ?? "nothing"
        note("caller \(caller) gets \(status)", of: click)
        guard let reply, reply.isMatch || reply.isNoMatch else {
            entries[click].isDoubtful = true
            if let reply { refuse(reply, "check of \(click)") }
            if reply == nil { lostReplyCount += 1 }
            return false
        }
        entries[click].decided.insert(caller)
        if reply.isMatch {
            matchCount += 1
            matchCounts[Programs(recording: entries[click].program, matching: program), default: 0] += 1
            if reply.string("jid") != journey(of: click) {
                report("a check got another click: \(reply.text)", of: click)
            }
            entries[click].matched.insert(caller)
            if entries[click].matched.count > 1 { report("matched twice", of: click) }
        } else {
            entries[click].noMatches.append(WallClock.system.now().milliseconds)
            let entry = entries[click]
            if entry.matched.isEmpty, entry.underWay == 0, !entry.isDoubtful || entry.callerCount == 1 {
                report("a check of an acknowledged click found nothing", of: click)
            }
        }
        let entry = entries[click]
        if entry.isOver, entry.matched.isEmpty { report("no caller got the click", of: click) }
        return true
    }

    mutating func didLose() { lostReplyCount += 1 }

    private mutating func refuse(_ reply: HTTPTestClient.Reply, _ request: String) {
        refusalCount += 1
        if reply.status != 503 || reply.fields["retry-after"] == nil {
            report("\(request): \(reply.status) \(reply.text)")
        }
    }

    /// Whether all checks of every acknowledged click are decided.
    var isOver: Bool { unasked.isEmpty && entries.allSatisfy { $0.number == nil || $0.isOver } }
}

/// The comparison with the database.
extension FleetLedger {
    /// Reports each fact of the ledger that the database contradicts.
    ///
    /// - Parameters:
    ///   - fleet: the fleet, whose servers have decided all requests.
    ///   - clocksAgree: whether the servers have the machine's time.
    ///   - node: the server with the database.
    ///   - lostReads: the times, in milliseconds since 1970, at which a check may have read claims that were
    ///     lost later.
    /// - Throws: if the database cannot be read.
    mutating func compare(
        with fleet: Fleet,
        clocksAgree: Bool,
        in node: any DatabaseServer,
        lostReads: ClosedRange<Int64>?
    ) throws {
        let text = try node.execute(
            "SELECT journey_id, id, coalesce(claimed_at, -1) FROM clicks ORDER BY id",
            in: fleet.database.name
        )
        var rows: [Int: (number: Int64, claimedAt: Int64)] = [:]
        for line in text.split(separator: "\n") {
            let columns = line.split(separator: "|")
            guard columns.count == 3, let journey = Int(columns[0].dropFirst()),
                let number = Int64(columns[1]), let claimedAt = Int64(columns[2]),
                entries.indices.contains(journey - first)
            else { continue }
            let click = journey - first
            if rows[click] != nil { report("click \(click) is recorded twice") }
            rows[click] = (number, claimedAt)
        }
        for (click, entry) in entries.enumerated() {
            guard let number = entry.number else { continue }
            guard let row = rows[click], row.number == number else {
                report("an acknowledged click is lost", of: click)
                continue
            }
            if !entry.matched.isEmpty, row.claimedAt < 0 { report("a match is lost", of: click) }
            guard clocksAgree else { continue }
            for time in entry.noMatches where row.claimedAt < 0 || row.claimedAt > time {
                if lostReads?.contains(time) == true { continue }
                report("no match at \(time) for a click that was claimed at \(row.claimedAt)", of: click)
            }
        }
        let doubles = try node.execute(
            "SELECT click FROM checks WHERE outcome = 'match' GROUP BY click HAVING count(*) > 1",
            in: fleet.database.name
        )
        if !doubles.isEmpty { report("clicks with two matches: \(doubles)") }
        var verified = try fleet.run(["verify"])
        // The nodes of Citus have no common snapshot, and the servers may still write the records of the last checks.
        if fleet.nodes.count > 1 {
            _ = try Polling.until {
                verified = try fleet.run(["verify"])
                return verified.status == 0
            }
        }
        if verified.status != 0 { report("verify: \(verified.text)\(verified.errors)") }
    }
}
#endif
