/// What the rows about time zones say, before a table is made of it.
struct TimeZoneRows {
    /// The names of each zone, its canonical one first.
    var names: [[String]] = []
    /// The zone of each name, as a position in `names`.
    var positions: [String: Int] = [:]
    /// By canonical name.
    var spellings: [String: [Spelling]] = [:]

    mutating func add(zone row: DataRow) throws(DataFileError) {
        try row.require(columns: 1...100, named: "the canonical name and the others")
        for (index, name) in row.columns.enumerated() {
            guard name.utf8.count <= 64, !name.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "|") })
            else {
                throw row.error(at: index, "is not the name of a zone", "Write it as in Europe/Istanbul")
            }
            guard positions.updateValue(names.count, forKey: name) == nil else {
                throw row.repeated(at: index)
            }
        }
        names.append(row.columns)
    }

    mutating func add(spelling row: DataRow) throws(DataFileError) {
        try row.require(columns: 3...3, named: "the canonical name, the other name, and its share")
        let canonical = row.columns[0]
        let other = row.columns[1]
        guard let position = positions[other], names[position][0] == canonical, canonical != other else {
            throw row.error(
                at: 1,
                "is not another name of the zone in column 2",
                "Name a zone row's first name in column 2, and another of the same row here"
            )
        }
        var known = spellings[canonical] ?? []
        guard !known.contains(where: { $0.text == other }) else { throw row.repeated(at: 1) }
        let left = known.reduce(1) { $0 - $1.weight }
        known.append(Spelling(other, weight: try row.number(at: 2, in: 0...max(0, left))))
        spellings[canonical] = known
    }
}
