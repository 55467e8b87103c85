/// What the rows about iOS say, before tables are made of it.
struct IOSReleaseRows {
    var weights: [(version: OSVersion, weight: Double)] = []
    var builds: [String: OSVersion] = [:]
    var majorByBuildNumber: [Int: Int] = [:]
    var majorByDarwin: [Int: Int] = [:]
    var freezes: [IOSReleases.Freeze] = []
    var truthfulBrowsers: [String] = []

    mutating func add(release row: DataRow) throws(DataFileError) {
        try row.require(columns: 2...40, named: "version, weight and the names of its builds")
        let version = try row.version(at: 0)
        guard !weights.contains(where: { $0.version == version }) else { throw row.repeated(at: 0) }
        weights.append((version, try row.number(at: 1, in: 0.000_001...1_000_000)))
        for (index, build) in row.columns.enumerated().dropFirst(2) {
            guard build.utf8.count <= 12, build.utf8.allSatisfy(\.isASCIIAlphanumeric) else {
                throw row.error(at: index, "is not the name of a build", "Write it as in 23B85")
            }
            guard builds.updateValue(version, forKey: build) == nil else { throw row.repeated(at: index) }
        }
    }

    mutating func add(build row: DataRow) throws(DataFileError) {
        try Self.add(row, to: &majorByBuildNumber, named: "the number of the build and the major version")
    }

    mutating func add(darwin row: DataRow) throws(DataFileError) {
        try Self.add(row, to: &majorByDarwin, named: "the kernel's major version and the system's")
    }

    mutating func add(freeze row: DataRow) throws(DataFileError) {
        try row.require(
            columns: 3...3,
            named: "the version that is printed, and the first and last version that print it"
        )
        let token = try row.version(at: 0)
        guard !freezes.contains(where: { $0.token == token }) else { throw row.repeated(at: 0) }
        let first = try row.version(at: 1)
        let last = row.columns[2] == "-" ? nil : try row.version(at: 2)
        if let last, last < first {
            throw row.error(at: 2, "is before the first version", "Write a later version, or - for none")
        }
        freezes.append(IOSReleases.Freeze(token: token, first: first, last: last))
    }

    mutating func add(browser row: DataRow) throws(DataFileError) {
        try row.require(columns: 1...1, named: "a part of the browser's agent")
        guard row.columns[0].utf8.count >= 2 else {
            throw row.error(at: 0, "is too short", "Write two characters or more")
        }
        truthfulBrowsers.append(row.columns[0])
    }

    private static func add(
        _ row: DataRow,
        to majors: inout [Int: Int],
        named names: String
    ) throws(DataFileError) {
        try row.require(columns: 2...2, named: names)
        let number = try row.integer(at: 0, in: 1...99)
        let major = try row.integer(at: 1, in: 1...999)
        guard majors.updateValue(major, forKey: number) == nil else { throw row.repeated(at: 0) }
    }
}
