import Attribution
import Foundation
import Testing

@Suite("Robots")
struct RobotAgentsTests {
    /// The agents in `people.txt`, and the recorded agents in `agents.tsv`.
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
        _ keyword: String,
        _ purpose: String = "crawler",
        source: String = "https://a.example"
    ) -> String { "robot\t\(purpose)\tVendor\t\(keyword)\t\(source)\n" }

    private static func list(_ text: String) throws(DataFileError) -> RobotAgents {
        try RobotAgents(replacing: Array(text.utf8), file: "own.tsv")
    }

    @Test("are recognised with their purpose in recorded agents")
    func known() {
        #expect(Self.robots.count >= 150)
        for (purpose, agent) in Self.robots {
            let robot = RobotAgents.embedded.robot(agent)
            #expect(robot?.purpose.rawValue == purpose, "\(agent): \(robot?.keyword ?? "none")")
            #expect(RobotAgents.embedded.isRobot(agent) == (purpose != "program"), "\(agent)")
            #expect(RobotAgents.embedded.robot(agent.uppercased()) == robot, "\(agent)")
        }
    }

    @Test("include no agent of a person's browser or app")
    func people() {
        #expect(Self.people.count >= 180)
        for agent in Self.people {
            let keyword = RobotAgents.embedded.robot(agent)?.keyword
            #expect(keyword == nil, "\(agent)")
        }
        #expect(RobotAgents.embedded.robot("") == nil)
    }

    @Test("are found by each keyword of the list, anywhere in the agent, but not by a part of the keyword")
    func everyKeyword() {
        let known = RobotAgents.embedded.known
        #expect(known.count >= 150)
        for robot in known {
            let isAtStart = robot.keyword.hasPrefix("^")
            let isAtEnd = robot.keyword.hasSuffix("$")
            let text = robot.keyword.trimmingCharacters(in: ["^", "$"])
            let agent = (isAtStart ? "" : "Mozilla/5.0 ") + text + (isAtEnd ? "" : " 1.0")
            #expect(RobotAgents.embedded.robot(agent) != nil, "\(robot.keyword)")
            #expect(RobotAgents.embedded.robot(agent.uppercased()) != nil, "\(robot.keyword)")
            let cut = String(text.dropLast()) + "~"
            let isPart = known.contains {
                text.dropLast().contains($0.keyword.trimmingCharacters(in: ["^", "$"]))
            }
            #expect(isPart || RobotAgents.embedded.robot(cut) == nil, "\(robot.keyword)")
        }
    }

    @Test("have a vendor and a source each")
    func sources() {
        let known = RobotAgents.embedded.known
        #expect(known.allSatisfy { !$0.vendor.isEmpty && $0.source.contains("://") })
        #expect(Set(known.map(\.keyword)).count == known.count)
        for purpose in RobotAgents.Purpose.allCases { #expect(known.contains { $0.purpose == purpose }) }
    }

    @Test("are found by the first keyword, and count as programs only if no other keyword is found")
    func precedence() throws {
        let list = try Self.list(
            Self.row("^curl/", "program") + Self.row("serpbot") + Self.row("previewer", "preview")
        )
        #expect(list.robot("curl/8.5.0")?.purpose == .program)
        #expect(list.robot("curl/8.5.0 (serpbot; previewer)")?.keyword == "serpbot")
        #expect(list.robot("previewer serpbot")?.keyword == "previewer")
        #expect(list.isRobot("curl/8.5.0") == false && list.isRobot("a serpbot"))
    }

    @Test("are found by an anchored keyword only at the start or the end of the agent")
    func anchors() throws {
        let list = try Self.list(Self.row("^whatsapp/") + Self.row("^node$") + Self.row("agent$"))
        #expect(list.robot("WhatsApp/2.23.20.0 A") != nil)
        #expect(list.robot("Mozilla/5.0 (iPhone) WhatsApp/2.23.20") == nil)
        #expect(list.robot("node") != nil && list.robot("Node") != nil)
        #expect(list.robot("node ") == nil && list.robot("a node") == nil && list.robot("node-fetch") == nil)
        #expect(list.robot("my agent") != nil && list.robot("my agent 2") == nil)
    }

    @Test("are not found by a keyword inside an exception, but by a keyword outside the exception")
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

    @Test("of a file replace the built-in rows, kind by kind")
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

    @Test("are refused with the line and the column of the error in the file", arguments: unreadable)
    func errors(text: String, line: Int, column: Int) {
        let error = #expect(throws: DataFileError.self) { try Self.list(text) }
        #expect(error?.line == line && error?.column == column)
        #expect(error?.message.hasPrefix("own.tsv") == true && (error?.message.count ?? 0) > 40)
    }

    @Test("are searched in the first 2,048 bytes of an agent, however long the agent is")
    func length() {
        let long = String(repeating: "x", count: 2048 - 11)
        #expect(RobotAgents.embedded.isRobot(long + "twitterbot/"))
        #expect(!RobotAgents.embedded.isRobot(long + "xxtwitterbot"))
        for part in ["+http:/", "spide", "bot", "crawle", "\u{0}", "é", "^whatsapp"] {
            #expect(RobotAgents.embedded.robot(String(repeating: part, count: 200_000)) == nil, "\(part)")
        }
    }
}

@Suite("Prefetching")
struct PrefetchingTests {
    @Test(
        "is announced by an item such as `prefetch`, with any parameters and in any case",
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
        "is not announced by other values",
        arguments: [
            "", ";", ",", "navigate", "prefetched", "noprefetch", ";prefetch", "x;prefetch", "x=prefetch",
        ]
    )
    func notAnnounced(value: String) {
        let isAnnounced = Prefetching.isAnnounced(by: value.utf8.span)
        #expect(!isAnnounced)
    }
}
