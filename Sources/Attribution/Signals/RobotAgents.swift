/// Known link previews, crawlers, monitors, scanners and programs, and knowing them by their user agents.
///
/// Built in from `Data/robots.tsv`, which says what its rows mean; a file given at start can replace them.
public struct RobotAgents: Sendable {
    /// What a robot is for.
    ///
    /// The raw value is the word in the file.
    public enum Purpose: String, CaseIterable, Sendable {
        /// Shows what is behind a link that somebody posted.
        case preview
        case crawler
        case monitor
        /// A mail gateway or a security service, which follows links before anybody reads the mail.
        case scanner
        /// A browser that a program drives.
        case automation
        /// A library or a tool of programmers.
        case program
    }

    /// A robot, and by which mark in its user agent it is known.
    public struct Robot: Hashable, Sendable {
        public let purpose: Purpose
        public let vendor: String
        /// As in the file: lower case, with `^` where the agent begins with it and `$` where it ends with it.
        public let mark: String
        /// Where it is published.
        public let source: String
    }

    public let known: [Robot]
    private let marks: AgentPatternSet

    /// How much of an agent is read; no real one is longer.
    private static let maximumLength = 2048

    /// What is built in.
    public static let embedded: RobotAgents = {
        do throws(DataFileError) {
            var rows = RobotRows()
            for file in EmbeddedData.files where file.name == "robots.tsv" {
                rows = try RobotRows(Array(file.text.utf8), file: file.name)
            }
            return RobotAgents(rows)
        } catch {
            preconditionFailure("the embedded list of robots does not parse: \(error.message)")
        }
    }()

    /// What is built in, except for the kinds of rows that `file` holds.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - file: its name, for error messages.
    /// - Throws: with the line and column of the first row that cannot be read.
    public init(replacing bytes: [UInt8], file: String) throws(DataFileError) {
        var rows = try RobotRows(bytes, file: file)
        guard !rows.robots.isEmpty || !rows.people.isEmpty else {
            throw DataFileError(file, 0, 0, "holds no row", "Write at least one, or do not give the file")
        }
        if rows.robots.isEmpty { rows.robots = Self.embedded.known }
        if rows.people.isEmpty { rows.people = Self.embedded.marks.exceptions }
        self.init(rows)
    }

    private init(_ rows: RobotRows) {
        known = rows.robots
        marks = AgentPatternSet(
            rows.robots.map { AgentPatternSet.Mark($0.mark, isWeak: $0.purpose == .program) },
            exceptions: rows.people
        )
    }

    /// The robot whose agent this is; a program only if there is no other.
    public func robot(_ userAgent: Span<UInt8>) -> Robot? {
        marks.firstMatch(in: userAgent.extracting(first: Self.maximumLength)).map { known[$0] }
    }

    /// As for bytes.
    public func robot(_ userAgent: String) -> Robot? {
        robot(userAgent.utf8.span)
    }

    /// Whether a click with this agent is a robot's.
    ///
    /// One that a program posts is not: a customer's own link server posts its visitors' clicks with one.
    public func isRobot(_ userAgent: String) -> Bool {
        robot(userAgent).map { $0.purpose != .program } ?? false
    }
}
