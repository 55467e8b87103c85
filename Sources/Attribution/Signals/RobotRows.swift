/// What the rows of a list of robots say.
struct RobotRows {
    var robots: [RobotAgents.Robot] = []
    /// Texts of people's agents in which a mark is none.
    var people: [String] = []

    /// A kind of row.
    ///
    /// The raw value is the word in the file.
    private enum Kind: String, CaseIterable {
        case robot
        case person
    }

    private static let markLength = 4...64

    init() {}

    init(_ bytes: [UInt8], file: String) throws(DataFileError) {
        let rows = try DataRow.rows(of: bytes, file: file, kinds: Kind.allCases.map(\.rawValue))
        var marks: Set<String> = []
        for row in rows {
            let mark: String
            switch Kind(rawValue: row.kind) {
            case .robot:
                try add(robot: row)
                mark = row.columns[2]
            case .person:
                try add(person: row)
                mark = row.columns[1]
            case nil: continue
            }
            guard marks.insert("\(row.kind) \(mark)").inserted else {
                throw row.repeated(at: row.kind == Kind.robot.rawValue ? 2 : 1)
            }
        }
    }

    private mutating func add(robot row: DataRow) throws(DataFileError) {
        try row.require(
            columns: 4...4,
            named: "what it is for, whose it is, its mark, and where that is published"
        )
        guard let purpose = RobotAgents.Purpose(rawValue: row.columns[0]) else {
            let words = RobotAgents.Purpose.allCases.map(\.rawValue).joined(separator: ", ")
            throw row.error(at: 0, "does not say what the robot is for", "Write one of \(words)")
        }
        try Self.checkMark(AgentPatternSet.Mark(row.columns[2], isWeak: false).bytes, row, at: 2)
        try Self.checkSource(row, at: 3)
        robots.append(
            RobotAgents.Robot(
                purpose: purpose,
                vendor: row.columns[1],
                mark: row.columns[2],
                source: row.columns[3]
            )
        )
    }

    private mutating func add(person row: DataRow) throws(DataFileError) {
        try row.require(
            columns: 3...3,
            named: "whose agent it is, a text that it holds, and where that is published"
        )
        try Self.checkMark(Array(row.columns[1].utf8), row, at: 1)
        try Self.checkSource(row, at: 2)
        people.append(row.columns[1])
    }

    private static func checkMark(_ mark: [UInt8], _ row: DataRow, at index: Int) throws(DataFileError) {
        let isSmall = mark.allSatisfy { (0x20...0x7e).contains($0) && $0 == $0.asciiLowercased }
        guard markLength.contains(mark.count), isSmall else {
            throw row.error(
                at: index,
                "is no part of an agent to know it by",
                "Write \(markLength.lowerBound) to \(markLength.upperBound) ASCII characters without capitals"
            )
        }
    }

    private static func checkSource(_ row: DataRow, at index: Int) throws(DataFileError) {
        let source = row.columns[index]
        guard source.hasPrefix("https://") || source.hasPrefix("http://") else {
            throw row.error(at: index, "is no web address", "Say where it is published, as https://…")
        }
    }
}
