/// Reading the values in a row's columns.
extension DataRow {
    func version(at index: Int) throws(DataFileError) -> OSVersion {
        guard let version = OSVersion(columns[index]) else {
            throw error(at: index, "is not a version", "Write it as in 17.2 or 17.2.1")
        }
        return version
    }

    func integer(at index: Int, in allowed: ClosedRange<Int>) throws(DataFileError) -> Int {
        try number(Int(columns[index]), at: index, in: allowed, called: "whole number")
    }

    func number(at index: Int, in allowed: ClosedRange<Double>) throws(DataFileError) -> Double {
        try number(Double(columns[index]), at: index, in: allowed, called: "number")
    }

    private func number<Number: Comparable>(
        _ number: Number?,
        at index: Int,
        in allowed: ClosedRange<Number>,
        called name: String
    ) throws(DataFileError) -> Number {
        guard let number, allowed.contains(number) else {
            throw error(
                at: index,
                "is not a \(name) that belongs here",
                "Write a \(name) from \(allowed.lowerBound) to \(allowed.upperBound)"
            )
        }
        return number
    }

    /// The column at `index` stands in an earlier row of the kind already.
    func repeated(at index: Int) -> DataFileError {
        error(at: index, "stands in an earlier row of \(kind) already", "Remove one of the two")
    }
}
