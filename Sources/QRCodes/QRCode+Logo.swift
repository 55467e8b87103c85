extension QRCode {
    /// Modules a side of the square in the centre that a logo may cover so that the code is still read.
    ///
    /// It is the largest that, in every block of codewords, spoils no more than half of what error correction restores,
    /// and is no wider than three tenths of the code: what is left is for dirt, folds and poor light, and for decoders
    /// that lose their way when the alignment patterns of a large code's middle are gone. With level H it is about a
    /// quarter of the code's side, less in the smallest. It depends on version and level alone.
    ///
    /// The square includes the logo's own light margin, a tenth on each side: some decoders take something dark that
    /// touches the modules for one of their patterns.
    public var logoModules: Int {
        let grid = QRGrid(version: version)
        let side = grid.side
        let centre = side / 2
        let blocks = version.blocks(errorCorrection)
        /// For each codeword, by how many modules it is off the centre where it comes nearest.
        var distances = [Int](repeating: side, count: version.codewordCount)
        for (bit, place) in grid.textModules().enumerated() where bit / 8 < distances.count {
            let distance = max(abs(place % side - centre), abs(place / side - centre))
            distances[bit / 8] = min(distances[bit / 8], distance)
        }
        var distancesOfBlocks = [[Int]](repeating: [], count: blocks.count)
        for (index, distance) in distances.enumerated() {
            distancesOfBlocks[blocks.block(ofCodeword: index)].append(distance)
        }
        // It takes two codewords to restore one: a quarter is half of what can be restored.
        let spoiled = blocks.correctionCodewordsPerBlock / 4
        let firstKept = distancesOfBlocks.map { $0.sorted()[spoiled] }.min() ?? 0
        // The corners of the square stay clear of the finders and the format beside them.
        let reach = min(firstKept - 1, centre - 9, (side * 3 / 10 - 1) / 2)
        return max(0, 2 * reach + 1)
    }
}
