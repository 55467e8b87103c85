/// A screen in points, as a device held upright would report it.
public struct ScreenSize: Hashable, Sendable {
    /// The shorter side, truncated to whole points.
    public let width: Int
    /// The longer side, truncated to whole points.
    public let height: Int

    /// No screen has fewer or more points a side.
    private static let plausible = 1.0..<100_000.0

    /// From the two sides in either order; nil when one is missing or no length of a screen.
    public init?(_ oneSide: Double?, _ otherSide: Double?) {
        guard let oneSide, let otherSide, Self.plausible.contains(oneSide), Self.plausible.contains(otherSide)
        else {
            return nil
        }
        width = Int(min(oneSide, otherSide))
        height = Int(max(oneSide, otherSide))
    }

    /// `390x844`.
    public var text: String { "\(width)x\(height)" }
}
