/// The edges of a picture's dark regions, as the data of one SVG path.
///
/// It uses outlines, not a rectangle for each row: rectangles would show hairlines between them in a picture whose
/// modules are not whole pixels. The outline of a hole has the opposite direction to the outline around it, so that
/// both fill rules of SVG leave the hole free.
struct QROutline {
    private let side: Int
    /// The modules, row by row, with a further light module on each edge, so that every module has neighbours.
    private let isDark: [Bool]

    init(of picture: QRPicture) {
        let side = picture.side + 2
        self.side = side
        isDark = (0..<side * side).map { picture.isDark(column: $0 % side - 1, row: $0 / side - 1) }
    }

    /// Appends all outlines; each starts at an edge above a dark module.
    func append(to text: inout [UInt8]) {
        var isPassed = [Bool](repeating: false, count: side * side)
        for start in side..<side * side where isDark[start] && !isDark[start - side] && !isPassed[start] {
            appendOutline(from: start, passing: &isPassed, to: &text)
        }
    }

    /// Appends the outline that starts at the top left corner of the module at `start` and has the dark modules on its
    /// right.
    ///
    /// Regions that touch only at a corner get separate outlines.
    private func appendOutline(from start: Int, passing isPassed: inout [Bool], to text: inout [UInt8]) {
        text += "M\(start % side - 1) \(start / side - 1)".utf8
        // The steps right, down, left and up, each as an SVG command with its sign, and the change of the index.
        let steps = [("h", 1), ("v", side), ("h-", -1), ("v-", -side)]
        var index = start
        var direction = 0
        var length = 0
        while true {
            if direction == 0 { isPassed[index] = true }
            index += steps[direction].1
            length += 1
            let next = nextDirection(after: direction, at: index)
            guard next != direction else { continue }
            // If two regions touch at the first corner, the outline may pass this corner before it ends there.
            if index == start, next == 0 { break }
            text += "\(steps[direction].0)\(length)".utf8
            direction = next
            length = 0
        }
        // Closing the path draws its last edge.
        text.append(UInt8(ascii: "z"))
    }

    /// Returns the direction in which an outline leaves the top left corner of the module at `index`.
    private func nextDirection(after direction: Int, at index: Int) -> Int {
        // The four modules around the corner; `around[d]` is on the right of an edge that leaves the corner in
        // direction `d`.
        let around: [4 of Int] = [index, index - 1, index - 1 - side, index - side]
        guard isDark[around[direction]] else { return (direction + 1) % 4 }
        return isDark[around[(direction + 3) % 4]] ? (direction + 3) % 4 : direction
    }
}
