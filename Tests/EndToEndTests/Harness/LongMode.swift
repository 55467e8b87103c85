import Foundation

/// Whether there is time for hundreds of rounds.
let isLong = ProcessInfo.processInfo.environment["AFTERLINK_LONG"] != nil
