/// A screen held upright, in points or in pixels, whichever it is said to be in.
public struct ScreenSize: Hashable, Sendable {
    /// The shorter side, truncated to a whole number.
    public let width: Int
    /// The longer side, truncated to a whole number.
    public let height: Int

    /// No screen has fewer or more a side.
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

    /// Reads `1170x2532`, as apps write pixels; nil for less than 100 a side, which is a version or a count.
    init?(pixels text: ArraySlice<UInt8>) {
        guard let cross = text.firstIndex(of: UInt8(ascii: "x")),
            let across = AgentText.number(text[..<cross]),
            let along = AgentText.number(text[(cross + 1)...]), across >= 100, along >= 100
        else { return nil }
        self.init(Double(across), Double(along))
    }

    /// `390x844`.
    public var text: String { String(width) + "x" + String(height) }
}
