public import Attribution
internal import FoundationEssentials

extension WallClock {
    /// The machine's own wall clock.
    public static let system = WallClock {
        Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}
