/// Why a data file cannot be read: where, what is wrong, what to do.
public struct DataFileError: Error, Equatable, Sendable {
    /// As it was given.
    public let file: String
    /// Counted from 1; 0 for the file as a whole.
    public let line: Int
    /// Counted from 1, the kind of the row included; 0 for the row or the file as a whole.
    public let column: Int
    /// Goes on after the place: "is missing".
    public let problem: String
    /// A sentence without its full stop.
    public let remedy: String

    public init(_ file: String, _ line: Int, _ column: Int, _ problem: String, _ remedy: String) {
        self.file = file
        self.line = line
        self.column = column
        self.problem = problem
        self.remedy = remedy
    }

    /// One line for a person: `devices.tsv, line 12, column 3 is missing. Write …`.
    public var message: String {
        let place = line > 0 ? ", line \(line)" + (column > 0 ? ", column \(column)" : "") : ""
        return "\(file)\(place) \(problem). \(remedy)."
    }
}
