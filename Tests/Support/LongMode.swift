internal import Foundation

/// Whether tests run hundreds of rounds.
public let isLong = ProcessInfo.processInfo.environment["AFTERLINK_LONG"] != nil
