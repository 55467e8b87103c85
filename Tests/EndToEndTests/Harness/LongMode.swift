import Foundation

/// Whether tests run hundreds of rounds.
let isLong = ProcessInfo.processInfo.environment["AFTERLINK_LONG"] != nil
