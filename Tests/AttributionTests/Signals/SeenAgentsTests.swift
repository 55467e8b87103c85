import Attribution
import Foundation
import Testing

@Suite("Recorded user agents")
struct SeenAgentsTests {
    struct Agent: Sendable, CustomStringConvertible {
        let source: String
        let kind: String
        let platform: Platform
        let model: String?
        /// The system version: `17.2` is exact, `17.2.*` lacks the patch number, `(18.7)` is frozen, `-` is unknown.
        let version: String
        let text: String
        var description: String { text }
    }

    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Vectors/agents.tsv").standardizedFileURL

    static let agents: [Agent] = {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard columns.count == 6, let platform = Platform(rawValue: columns[2]) else { return nil }
            return Agent(
                source: columns[0],
                kind: columns[1],
                platform: platform,
                model: columns[3] == "-" ? nil : columns[3],
                version: columns[4],
                text: columns[5]
            )
        }
    }()

    @Test("are several hundred, all different and with sources")
    func table() throws {
        let lines = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        #expect(Self.agents.count == lines.count)
        #expect(Self.agents.count >= 300)
        #expect(Set(Self.agents.map(\.text)).count == Self.agents.count)
        #expect(Self.agents.allSatisfy { $0.source.contains("/") || $0.source.contains("issue") })
        #expect(Set(Self.agents.map(\.source)).count >= 20)
    }

    @Test("have a platform, a model and a version, unless the agent hides them")
    func readings() {
        for agent in Self.agents {
            let reading = UserAgent(agent.text, touchPoints: agent.kind == "desktop-dress" ? 5 : nil)
            #expect(reading.platform == agent.platform, "\(agent)")
            #expect(reading.model == agent.model, "\(agent)")
            #expect(Self.text(reading.system, agent.platform) == agent.version, "\(agent)")
        }
    }

    @Test("have signals without empty components and without separators in components")
    func components() {
        let page = DeviceSignals(
            screenWidth: 390,
            screenHeight: 844,
            pixelRatio: 3,
            timezone: "Europe/Istanbul",
            language: "tr-TR",
            touchPoints: 5
        )
        for agent in Self.agents {
            let signals = CanonicalSignals(page, userAgent: agent.text)
            for input in signals.inputs() {
                let isSound = input.values.allSatisfy { 1...100 ~= $0.utf8.count && !$0.contains("|") }
                #expect(isSound, "\(agent)")
            }
            let fingerprints = signals.fingerprints()
            #expect(fingerprints.count <= CanonicalSignals.maximumFingerprints)
            #expect(fingerprints.isEmpty == (signals.model == nil), "\(agent)")
        }
    }

    private static func text(_ reading: OSVersionReading, _ platform: Platform) -> String {
        switch reading {
        case .unknown: "-"
        case .frozen(let version): "(\(version.text(for: platform)))"
        case .major(let major): "\(major).*"
        case .minor(let version): "\(version.majorMinorText(for: platform)).*"
        case .exact(let version): version.text(for: platform)
        }
    }
}
