/// The spelling of Android's `Build.MODEL`.
enum AndroidModel {
    /// What Chrome prints in the place of the model.
    static let hidden = "K"

    static let maximumLength = 100

    /// A model with what agents add to it removed; nil when it is hidden, empty, or no text that a system gives.
    static func clean(_ text: String) -> String? {
        clean(Array(text.utf8)[...])
    }

    /// As for a text, from its bytes.
    static func clean(_ bytes: ArraySlice<UInt8>) -> String? {
        var model = upTo(wideSemicolon, upTo(miui, upTo(build, bytes))).trimmed
        if model.suffix(webView.count).elementsEqual(webView) { model = model.dropLast(webView.count) }
        if hasPrefix(model, samsung) { model = model.dropFirst(samsung.count) }
        model = model.trimmed
        // The bar separates the components of a fingerprint.
        guard !model.isEmpty, !model.elementsEqual(hidden.utf8), model.count <= maximumLength,
            !model.contains(where: { $0 < 0x20 || $0 == 0x7f || $0 == UInt8(ascii: "|") })
        else { return nil }
        return String(decoding: model, as: UTF8.self)
    }

    /// The model in one part of an agent's list; nil for a part that is something else.
    static func model(inSegment segment: ArraySlice<UInt8>) -> String? {
        let isOther =
            notModels.contains { $0.count == segment.count && hasPrefix(segment, $0) }
            || otherBeginnings.contains { hasPrefix(segment, $0) } || isLocale(segment)
        return isOther ? nil : clean(segment)
    }

    private static let notModels = bytes([
        "u", "wv", "mobile", "tablet", "tv", "harmonyos", "openharmony", "arm", "arm_64", "arm64", "x86",
        "x86_64", "linux",
    ])

    private static let otherBeginnings = bytes(["rv:", "build/", "hmscore", "opera ", "release/"])

    private static let build = Array(" Build/".utf8)
    private static let miui = Array(" MIUI/".utf8)
    /// Huawei's browser separates by U+FF1B.
    private static let wideSemicolon = Array("\u{ff1b}".utf8)
    private static let webView = Array("; wv".utf8)
    private static let samsung = Array("samsung ".utf8)

    private static func bytes(_ words: [String]) -> [[UInt8]] {
        words.map { Array($0.utf8) }
    }

    /// Whether the text begins with the word, which is in lower case, in either case.
    private static func hasPrefix(_ text: ArraySlice<UInt8>, _ word: [UInt8]) -> Bool {
        guard text.count >= word.count else { return false }
        for (index, byte) in word.enumerated()
        where text[text.startIndex + index].asciiLowercased != byte {
            return false
        }
        return true
    }

    /// The text up to the first occurrence of `mark`.
    private static func upTo(_ mark: [UInt8], _ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text
        while let start = rest.firstIndex(of: mark[0]) {
            if text[start...].starts(with: mark) { return text[..<start] }
            rest = text[(start + 1)...]
        }
        return text
    }

    /// `en`, `en-us` or `en_US`, which old agents put before the model.
    static func isLocale(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count == 2 || word.count == 5 else { return false }
        for (index, byte) in word.enumerated() {
            let isSeparator = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            guard index == 2 ? isSeparator : byte.isASCIILetter else { return false }
        }
        return true
    }
}
