/// Why the benchmark, or one row of it, cannot continue: a sentence for the person who started it.
package struct BenchmarkError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Why a row cannot be measured on this machine or of this binary.
struct NotMeasurable: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
