/// The screens of phones and tablets, with the widths in pixels that apps see.
public final class ScreenTable: Sendable {
    /// A width in pixels that apps on a device may see.
    public struct Width: Hashable, Sendable {
        public let pixels: Int
        /// The probability of the width, 0…1.
        public let weight: Double

        public init(pixels: Int, weight: Double) {
            self.pixels = pixels
            self.weight = weight
        }
    }

    /// An iOS screen with its points, its scale and a possible width.
    struct Row: Sendable {
        let screen: ScreenSize
        let scale: Int
        let width: Width
    }

    let widths: [ScreenSize: [Int: [Width]]]
    /// The panel widths of Android devices in pixels, ascending.
    let androidPanels: [Int]

    /// The pixels per point that a screen may have.
    private static let plausibleScales = 0.5...10.0

    init(rows: [Row], androidPanels: [Int]) {
        widths = Dictionary(grouping: rows, by: \.screen).mapValues { rows in
            Dictionary(grouping: rows, by: \.scale).mapValues { Self.normalized($0.map(\.width)) }
        }
        self.androidPanels = androidPanels.sorted()
    }

    /// Returns the widths in pixels that iOS apps may see on a screen of these points: the table's widths for
    /// the scale, or else width × scale, truncated.
    ///
    /// Without a plausible scale, returns the widths of all scales that the table has for such a screen; none
    /// if it has no such screen.
    public func iosWidths(of screen: ScreenSize, scale: Double?) -> [Width] {
        guard let scale, Self.plausibleScales.contains(scale) else {
            guard let scales = widths[screen] else { return [] }
            let rows = scales.sorted { $0.key > $1.key }.flatMap(\.value)
            return Self.distinct(
                rows.map { Width(pixels: $0.pixels, weight: $0.weight / Double(scales.count)) }
            )
        }
        let whole = Int(scale)
        if Double(whole) == scale, let known = widths[screen]?[whole] { return known }
        return [Width(pixels: Int(Double(screen.width) * scale), weight: 1)]
    }

    /// Returns the physical widths of an Android screen whose shorter side a browser reports as `points`.
    ///
    /// Browsers round the points up, so the width is above (points − 1) × ratio and at most points × ratio. Returns the
    /// widths of all known panels in this range, or else the largest possible width; none without a plausible ratio.
    public func androidWidths(points: Int, pixelRatio: Double?) -> [Width] {
        guard let pixelRatio, Self.plausibleScales.contains(pixelRatio), points > 0 else { return [] }
        // A ratio such as 2.8125 is exact in binary; a rounded decimal may be slightly too small.
        let largest = Double(points) * pixelRatio + 0.001
        let below = Double(points - 1) * pixelRatio + 0.001
        let panels = androidPanels.filter { Double($0) > below && Double($0) <= largest }
        guard !panels.isEmpty else { return [Width(pixels: Int(largest), weight: 1)] }
        return panels.map { Width(pixels: $0, weight: 1 / Double(panels.count)) }
    }

    private static func normalized(_ widths: [Width]) -> [Width] {
        let sum = widths.reduce(0) { $0 + $1.weight }
        return widths.map { Width(pixels: $0.pixels, weight: $0.weight / sum) }
    }

    /// Returns each width once, with the sum of its weights.
    private static func distinct(_ widths: [Width]) -> [Width] {
        var distinct: [Width] = []
        for width in widths {
            if let index = distinct.firstIndex(where: { $0.pixels == width.pixels }) {
                distinct[index] = Width(pixels: width.pixels, weight: distinct[index].weight + width.weight)
            } else {
                distinct.append(width)
            }
        }
        return distinct
    }
}

/// A screen in upright orientation, in points or in pixels.
public struct ScreenSize: Hashable, Sendable {
    /// The shorter side, truncated to a whole number.
    public let width: Int
    /// The longer side, truncated to a whole number.
    public let height: Int

    /// The possible lengths of a side.
    private static let plausible = 1.0..<100_000.0

    /// Creates a screen from its two sides in either order; nil if a side is missing or impossible.
    public init?(_ oneSide: Double?, _ otherSide: Double?) {
        guard let oneSide, let otherSide, Self.plausible.contains(oneSide), Self.plausible.contains(otherSide)
        else { return nil }
        width = Int(min(oneSide, otherSide))
        height = Int(max(oneSide, otherSide))
    }

    /// Reads the pixels of an app's agent, such as `1170x2532`; nil for another text, and if a side is less
    /// than 100: such a number is a version or a count.
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
