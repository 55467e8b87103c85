/// The edges of a picture's dark regions, as the data of one SVG path.
///
/// Whole outlines and not a rectangle for each row: where a picture is scaled to fractions of a pixel, rectangles show
/// hair lines between them. Holes run the other way round than what they are in, so that either fill rule leaves them
/// free.
struct QROutline {
    private let side: Int
    /// With one light module more on every edge, so that no neighbour is outside.
    private let isDark: [Bool]

    init(of picture: QRPicture) {
        side = picture.side + 2
        var isDark = [Bool](repeating: false, count: side * side)
        for row in 0..<picture.side {
            for column in 0..<picture.side {
                isDark[(row + 1) * side + column + 1] = picture.isDark(column: column, row: row)
            }
        }
        self.isDark = isDark
    }

    /// Every outline has an edge that runs right above a dark module: from each that was not passed yet, one is followed.
    func append(to text: inout [UInt8]) {
        var isPassed = [Bool](repeating: false, count: side * side)
        for row in 1..<side {
            for column in 1..<side {
                let place = row * side + column
                guard isDark[place], !isDark[place - side], !isPassed[place] else { continue }
                appendOutline(fromColumn: column, row: row, passing: &isPassed, to: &text)
            }
        }
    }

    private enum Direction {
        case right, down, left, up

        var turnedRight: Direction {
            switch self {
            case .right: .down
            case .down: .left
            case .left: .up
            case .up: .right
            }
        }

        var turnedLeft: Direction {
            switch self {
            case .right: .up
            case .up: .left
            case .left: .down
            case .down: .right
            }
        }
    }

    /// Goes around with what is dark on the right hand, from the top left corner of a module; regions that touch in a
    /// corner stay apart.
    private func appendOutline(
        fromColumn startColumn: Int,
        row startRow: Int,
        passing isPassed: inout [Bool],
        to text: inout [UInt8]
    ) {
        text.append(UInt8(ascii: "M"))
        Self.append(startColumn - 1, to: &text)
        text.append(UInt8(ascii: " "))
        Self.append(startRow - 1, to: &text)
        var (column, row) = (startColumn, startRow)
        var direction = Direction.right
        var length = 0
        while true {
            if direction == .right { isPassed[row * side + column] = true }
            switch direction {
            case .right: column += 1
            case .down: row += 1
            case .left: column -= 1
            case .up: row -= 1
            }
            length += 1
            let next = turn(direction, atColumn: column, row: row)
            guard next != direction else { continue }
            // It may pass the corner where it began before it ends there, where regions touch.
            if column == startColumn, row == startRow, next == .right { break }
            Self.append(direction, length: length, to: &text)
            direction = next
            length = 0
        }
        // Closing draws the last edge.
        text.append(UInt8(ascii: "z"))
    }

    /// Where an outline goes on from the top left corner of a module.
    private func turn(_ direction: Direction, atColumn column: Int, row: Int) -> Direction {
        let below = row * side + column
        let above = below - side
        let (aheadRight, aheadLeft) =
            switch direction {
            case .right: (isDark[below], isDark[above])
            case .down: (isDark[below - 1], isDark[below])
            case .left: (isDark[above - 1], isDark[below - 1])
            case .up: (isDark[above], isDark[above - 1])
            }
        guard aheadRight else { return direction.turnedRight }
        return aheadLeft ? direction.turnedLeft : direction
    }

    private static func append(_ direction: Direction, length: Int, to text: inout [UInt8]) {
        switch direction {
        case .right, .left: text.append(UInt8(ascii: "h"))
        case .down, .up: text.append(UInt8(ascii: "v"))
        }
        if direction == .left || direction == .up { text.append(UInt8(ascii: "-")) }
        append(length, to: &text)
    }

    /// A number from 0 to 999.
    private static func append(_ number: Int, to text: inout [UInt8]) {
        let zero = UInt8(ascii: "0")
        if number >= 100 { text.append(zero + UInt8(number / 100 % 10)) }
        if number >= 10 { text.append(zero + UInt8(number / 10 % 10)) }
        text.append(zero + UInt8(number % 10))
    }
}
