import Foundation

/// Numbers for people: as many digits as are worth reading.
enum NumberText {
    static func short(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        if value == value.rounded(), abs(value) < 1e6 { return String(Int(value)) }
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : abs(value) >= 0.1 ? 2 : 3
        return String(format: "%.\(digits)f", value)
    }
}
