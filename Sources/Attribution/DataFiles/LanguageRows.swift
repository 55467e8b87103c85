/// What the rows about languages say, before a table is made of it.
struct LanguageRows {
    /// By every code, the canonical ones included.
    var canonicalCodes: [String: String] = [:]
    /// By canonical code.
    var iosSpellings: [String: [Spelling]] = [:]
    /// By canonical code.
    var androidSpellings: [String: [Spelling]] = [:]

    mutating func add(language row: DataRow) throws(DataFileError) {
        try row.require(columns: 1...20, named: "the code of today and the others")
        for (index, code) in row.columns.enumerated() {
            let isCode =
                (2...8).contains(code.utf8.count)
                && code.utf8.allSatisfy { $0.isASCIILetter && $0 == $0.asciiLowercased }
            guard isCode else {
                throw row.error(at: index, "is not a code of a language", "Write 2 to 8 small letters")
            }
            guard canonicalCodes.updateValue(row.columns[0], forKey: code) == nil else {
                throw row.repeated(at: index)
            }
        }
    }

    mutating func add(spelling row: DataRow) throws(DataFileError) {
        try row.require(
            columns: 4...4,
            named: "the code of today, the other, its share on iOS and on Android"
        )
        let code = row.columns[0]
        let other = row.columns[1]
        guard canonicalCodes[other] == code, code != other else {
            throw row.error(
                at: 1,
                "is not another code of the language in column 2",
                "Name a language row's first code in column 2, and another of the same row here"
            )
        }
        guard iosSpellings[code] == nil else { throw row.repeated(at: 0) }
        iosSpellings[code] = [Spelling(other, weight: try row.number(at: 2, in: 0...1))]
        androidSpellings[code] = [Spelling(other, weight: try row.number(at: 3, in: 0...1))]
    }
}
