extension QRPicture {
    /// The picture as a PNG of two colours, one bit a pixel.
    ///
    /// Every module has equally many pixels; what that leaves over widens the quiet zone.
    public func png() -> [UInt8] {
        let modulePixels = style.pixels / side
        let start = (style.pixels - side * modulePixels) / 2
        var image = PNGImage(
            width: style.pixels,
            height: style.pixels,
            colors: (zero: style.background, one: style.foreground)
        )
        let empty = Array(repeating: UInt8(0), count: (style.pixels + 7) / 8)
        image.append(row: empty, count: start)
        for row in 0..<side {
            image.append(
                row: pixels(ofRow: row, start: start, modulePixels: modulePixels),
                count: modulePixels
            )
        }
        image.append(row: empty, count: style.pixels - start - side * modulePixels)
        return image.finished()
    }

    /// A row's pixels, eight a byte, the leftmost highest.
    private func pixels(ofRow row: Int, start: Int, modulePixels: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (style.pixels + 7) / 8)
        for column in 0..<side where isDark(column: column, row: row) {
            let first = start + column * modulePixels
            let last = first + modulePixels - 1
            let left = UInt8(0xff) >> UInt8(first & 7)
            let right = UInt8(truncatingIfNeeded: 0xff00 >> (last & 7 + 1))
            guard first / 8 < last / 8 else {
                bytes[first / 8] |= left & right
                continue
            }
            bytes[first / 8] |= left
            for index in first / 8 + 1..<last / 8 { bytes[index] = 0xff }
            bytes[last / 8] |= right
        }
        return bytes
    }
}
