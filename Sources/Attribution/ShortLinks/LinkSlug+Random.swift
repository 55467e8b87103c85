extension LinkSlug {
    /// Characters that nobody takes for each other, read aloud or in print, of which no words come: without vowels and
    /// the digits that stand for them, `b` and `8`, `l` and `1`, `n` and `m`, `o` and `0`, `q` and `g`, `s` and `5`,
    /// `u`, `v`, and `z` and `2`.
    private static let alphabet = Array("cdfghjkmprtwxy679".utf8)
    private static let madeLength = 11

    /// What is read as a word without its vowels.
    private static let badWords = ["fck", "fgt", "ftw", "kkk", "wtf", "ct", "dck", "prk", "hh", "fk", "dmn"]

    /// A slug that cannot be guessed: eleven characters, 45 bits.
    public init(random: RandomSource) {
        while true {
            let text = Self.text(random)
            guard Self.badWords.contains(where: { text.contains($0) }) else {
                self.init(stored: text)
                return
            }
        }
    }

    private static func text(_ random: RandomSource) -> String {
        // Bytes beyond the last whole turn through the alphabet would favour its beginning.
        let end = 256 / alphabet.count * alphabet.count
        var text: [UInt8] = []
        while text.count < madeLength {
            let fitting = random.exactly(16).lazy.map { Int($0) }.filter { $0 < end }
            text += fitting.prefix(madeLength - text.count).map { alphabet[$0 % alphabet.count] }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
