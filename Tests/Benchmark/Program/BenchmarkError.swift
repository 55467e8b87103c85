/// Why the benchmark, or one row of it, cannot go on: a sentence for whoever started it.
package struct BenchmarkError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A row that this machine or this binary has no use for, and why.
struct NotMeasurable: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
