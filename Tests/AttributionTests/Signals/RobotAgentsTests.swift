import Attribution
import Foundation
import Testing

@Suite("Robots")
struct RobotAgentsTests {
    /// Those of the list, and those that other tests read.
    private static let people =
        lines("people.txt")
        + lines("agents.tsv").compactMap { $0.split(separator: "\t").last.map(String.init) }
    private static let robots = lines("robots.txt").compactMap { line in
        let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (purpose: parts[0], agent: parts[1]) : nil
    }

    private static func lines(_ name: String) -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/\(name)")
        let text = (try? String(contentsOf: file.standardizedFileURL, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    private static func row(
        _ mark: String,
        _ purpose: String = "crawler",
        source: String = "https://a.example"
    ) -> String { "robot\t\(purpose)\tVendor\t\(mark)\t\(source)\n" }

    private static func list(_ text: String) throws(DataFileError) -> RobotAgents {
        try RobotAgents(replacing: Array(text.utf8), file: "own.tsv")
    }

    @Test("are known, by what they are for, from agents as they were logged")
    func known() {
        #expect(Self.robots.count >= 150)
        for (purpose, agent) in Self.robots {
            let robot = RobotAgents.embedded.robot(agent)
            #expect(robot?.purpose.rawValue == purpose, "\(agent): \(robot?.keyword ?? "nobody")")
            #expect(RobotAgents.embedded.isRobot(agent) == (purpose != "program"), "\(agent)")
            #expect(RobotAgents.embedded.robot(agent.uppercased()) == robot, "\(agent)")
        }
    }

    @Test("are not people, whatever they browse in")
    func people() {
        #expect(Self.people.count >= 180)
        for agent in Self.people {
            let mark = RobotAgents.embedded.robot(agent)?.keyword
            #expect(mark == nil, "\(agent)")
        }
        #expect(RobotAgents.embedded.robot("") == nil)
    }

    @Test("are found by each mark of the list, wherever that may stand, and not by a part of it")
    func everyMark() {
        let known = RobotAgents.embedded.known
        #expect(known.count >= 150)
        for robot in known {
            let isAtStart = robot.keyword.hasPrefix("^")
            let isAtEnd = robot.keyword.hasSuffix("$")
            let mark = robot.keyword.trimmingCharacters(in: ["^", "$"])
            let agent = (isAtStart ? "" : "Mozilla/5.0 ") + mark + (isAtEnd ? "" : " 1.0")
            #expect(RobotAgents.embedded.robot(agent) != nil, "\(robot.keyword)")
            #expect(RobotAgents.embedded.robot(agent.uppercased()) != nil, "\(robot.keyword)")
            let cut = String(mark.dropLast()) + "~"
            let isPart = known.contains {
                mark.dropLast().contains($0.keyword.trimmingCharacters(in: ["^", "$"]))
            }
            #expect(isPart || RobotAgents.embedded.robot(cut) == nil, "\(robot.keyword)")
        }
    }

    @Test("are each told with a vendor and where their agent is published")
    func sources() {
        let known = RobotAgents.embedded.known
        #expect(known.allSatisfy { !$0.vendor.isEmpty && $0.source.contains("://") })
        #expect(Set(known.map(\.keyword)).count == known.count)
        for purpose in RobotAgents.Purpose.allCases { #expect(known.contains { $0.purpose == purpose }) }
    }

    @Test("are known by the mark that comes first, and as programs only if there is no other")
    func precedence() throws {
        let list = try Self.list(
            Self.row("^curl/", "program") + Self.row("serpbot") + Self.row("previewer", "preview")
        )
        #expect(list.robot("curl/8.5.0")?.purpose == .program)
        #expect(list.robot("curl/8.5.0 (serpbot; previewer)")?.keyword == "serpbot")
        #expect(list.robot("previewer serpbot")?.keyword == "previewer")
        #expect(list.isRobot("curl/8.5.0") == false && list.isRobot("a serpbot"))
    }

    @Test("are known by a mark at the beginning or the end only where the list says so")
    func anchors() throws {
        let list = try Self.list(Self.row("^whatsapp/") + Self.row("^node$") + Self.row("agent$"))
        #expect(list.robot("WhatsApp/2.23.20.0 A") != nil)
        #expect(list.robot("Mozilla/5.0 (iPhone) WhatsApp/2.23.20") == nil)
        #expect(list.robot("node") != nil && list.robot("Node") != nil)
        #expect(list.robot("node ") == nil && list.robot("a node") == nil && list.robot("node-fetch") == nil)
        #expect(list.robot("my agent") != nil && list.robot("my agent 2") == nil)
    }

    @Test("are not known by a mark within the text of a person's agent, but by one beside it")
    func exceptions() throws {
        let list = try Self.list(
            Self.row("bot/") + Self.row("mini") + "person\tA\tcubot\thttps://a.example\n"
                + "person\tB\topera mini\thttps://a.example\n"
        )
        for agent in ["CUBOT/MAX", "a Cubot/", "Opera Mini/36"] {
            #expect(list.robot(agent) == nil, "\(agent)")
        }
        for agent in ["bot/1", "ubot/1", "CUBOT/1 otherbot/1", "Opera  mini", "minion"] {
            #expect(list.robot(agent) != nil, "\(agent)")
        }
    }

    @Test("of a file given at start take the place of the built-in ones, kind by kind")
    func replacing() throws {
        let robots = try Self.list("# a comment\n\n" + Self.row("newbot"))
        #expect(robots.known.map(\.keyword) == ["newbot"])
        #expect(!robots.isRobot("Googlebot/2.1") && robots.isRobot("NewBot"))
        let people = try Self.list("person\tA\tgooglebot/\thttps://a.example\r\n")
        #expect(people.known == RobotAgents.embedded.known)
        #expect(people.robot("CUBOT/MAX") != nil, "the built-in exceptions are replaced")
        let both = try Self.list(Self.row("bot/"))
        #expect(both.robot("CUBOT/MAX") == nil, "the built-in exceptions stay")
    }

    private static let unreadable: [(text: String, line: Int, column: Int)] = [
        ("", 0, 0), ("# nothing\n", 0, 0), (row("goodbot") + "robber\tx\n", 2, 1),
        ("robot\tcrawler\tVendor\tnewbot\n", 1, 5),
        ("robot\tcrawler\tVendor\tnewbot\thttps://a.example\tmore\n", 1, 6),
        (row("newbot", "thief"), 1, 2), (row("bot"), 1, 4), (row("^bot"), 1, 4), (row("^$"), 1, 4),
        (row("NewBot"), 1, 4), (row("néwbot"), 1, 4), (row(String(repeating: "x", count: 65)), 1, 4),
        (row("newbot", source: "a.example"), 1, 5), (row(" newbot"), 1, 4),
        (row("newbot") + row("newbot"), 2, 4),
        ("person\tA\tcub\thttps://a.example\n", 1, 3), ("person\tA\tcubot\n", 1, 4),
        ("person\tA\tcubot\thttps://a.example\nperson\tB\tcubot\thttps://a.example\n", 2, 3),
    ]

    @Test("are read from a file that says what is wrong with it, and where", arguments: unreadable)
    func errors(text: String, line: Int, column: Int) {
        let error = #expect(throws: DataFileError.self) { try Self.list(text) }
        #expect(error?.line == line && error?.column == column)
        #expect(error?.message.hasPrefix("own.tsv") == true && (error?.message.count ?? 0) > 40)
    }

    @Test("are sought in the first two thousand bytes of an agent, in a time that its length bounds")
    func length() {
        let long = String(repeating: "x", count: 2048 - 11)
        #expect(RobotAgents.embedded.isRobot(long + "twitterbot/"))
        #expect(!RobotAgents.embedded.isRobot(long + "xxtwitterbot"))
        for part in ["+http:/", "spide", "bot", "crawle", "\u{0}", "é", "^whatsapp"] {
            #expect(RobotAgents.embedded.robot(String(repeating: part, count: 200_000)) == nil, "\(part)")
        }
    }
}

@Suite("Fetching ahead")
struct PrefetchingTests {
    @Test(
        "is announced by an item that says so, whatever its parameters and its case",
        arguments: [
            "prefetch", "prefetch;prerender", "prefetch; prerender", "prefetch;anonymous-client-ip",
            "prefetch;anonymous-client-ip;prerender=?1", "Prefetch", " prefetch ", "prefetch ;x", "preview",
            "instant", "prerender", "other, prefetch", "other;x=1,prefetch;y",
        ]
    )
    func announced(value: String) {
        let isAnnounced = Prefetching.isAnnounced(by: value.utf8.span)
        #expect(isAnnounced)
    }

    @Test(
        "is announced by nothing else",
        arguments: [
            "", ";", ",", "navigate", "prefetched", "noprefetch", ";prefetch", "x;prefetch", "x=prefetch",
        ]
    )
    func notAnnounced(value: String) {
        let isAnnounced = Prefetching.isAnnounced(by: value.utf8.span)
        #expect(!isAnnounced)
    }
}
