/// Finds the input of a fingerprint (the values that a client hashed) among the values of recent clicks and devices.
///
/// A client that sends only a hash does not reveal its values. A launch that nearly fits a click differs from
/// it in few components, so it is enough to try values that are common in the traffic.
public struct FingerprintSearch: Sendable {
    /// The values to try for each component, in the order in which they are tried.
    public struct Vocabulary: Equatable, Sendable {
        public var values: [SignalComponent: [String]]

        public init(_ values: [SignalComponent: [String]] = [:]) { self.values = values }

        /// Appends the values of an input that the vocabulary does not contain yet.
        public mutating func add(_ input: FingerprintInput) {
            for (component, value) in zip(input.form.components, input.values)
            where !values[component, default: []].contains(value) {
                values[component, default: []].append(value)
            }
        }
    }

    public struct Finding: Equatable, Sendable {
        /// The input, in the form that the client hashed; nil if none was found.
        public let input: FingerprintInput?
        public let triedCombinations: Int
    }

    private let vocabulary: Vocabulary
    private let known: Vocabulary
    private let limit: Int

    /// The number of nearest inputs that are tried with one component changed to a common value.
    private static let changedCandidates = 200
    /// The number of nearest inputs that are also tried with rarer values, and with two changes.
    private static let closelyTriedCandidates = 24

    /// - Parameters:
    ///   - vocabulary: the values to try.
    ///   - known: rarer values, which are tried in only a few combinations.
    ///   - limit: the largest number of combinations to hash; a hash takes about a microsecond.
    public init(_ vocabulary: Vocabulary, known: Vocabulary = Vocabulary(), limit: Int = 200_000) {
        self.vocabulary = vocabulary
        self.known = known
        self.limit = limit
    }

    /// Searches for the input of a fingerprint; the caller may know the fingerprint itself, or only its stored hash.
    ///
    /// - Parameters:
    ///   - candidates: inputs of the nearest clicks, in every form, the nearest first. They are tried
    ///     unchanged, then with one component changed, then with two. Last come all combinations of values,
    ///     starting with the form that has the fewest components.
    ///   - fits: returns whether a fingerprint is the searched one.
    /// - Returns: the input, and the number of tried combinations.
    public func find(
        near candidates: [FingerprintInput],
        where fits: @escaping (Fingerprint) -> Bool
    ) -> Finding {
        var work = Work(left: limit, fits: fits)
        let input = find(near: candidates, &work)
        return Finding(input: input, triedCombinations: limit - work.left)
    }

    private func find(near candidates: [FingerprintInput], _ work: inout Work) -> FingerprintInput? {
        let close = candidates.prefix(Self.closelyTriedCandidates)
        let steps = [
            (candidates[...], 0, vocabulary), (candidates.prefix(Self.changedCandidates), 1, vocabulary),
            (close, 1, known), (close, 2, vocabulary),
        ]
        for (candidates, changes, words) in steps {
            for candidate in candidates {
                if let found = search(candidate, changes, words, &work) { return found }
            }
        }
        let forms = FingerprintForm.allCases.sorted { $0.components.count < $1.components.count }
        for form in forms { if let found = search(all: form, vocabulary, &work) { return found } }
        return forms.first.flatMap { search(all: $0, known, &work) }
    }

    private struct Work {
        var left: Int
        let fits: (Fingerprint) -> Bool
    }

    private func search(all form: FingerprintForm, _ words: Vocabulary, _ work: inout Work)
        -> FingerprintInput?
    {
        let empty = FingerprintInput(form, [String](repeating: "", count: form.components.count))
        return search(empty, form.components.count, words, &work)
    }

    /// Tries `input` with exactly `changes` of its components changed, starting with the components that have the
    /// fewest values to try.
    private func search(
        _ input: FingerprintInput,
        _ changes: Int,
        _ words: Vocabulary,
        _ work: inout Work
    ) -> FingerprintInput? {
        let counts = input.form.components.map { words.values[$0]?.count ?? 0 }
        let order = counts.indices.sorted { (counts[$0], $0) < (counts[$1], $1) }
        return search(input, changes, of: order[...], words, &work)
    }

    private func search(
        _ input: FingerprintInput,
        _ changes: Int,
        of places: ArraySlice<Int>,
        _ vocabulary: Vocabulary,
        _ work: inout Work
    ) -> FingerprintInput? {
        guard changes > 0 else {
            guard work.left > 0 else { return nil }
            work.left -= 1
            return work.fits(input.fingerprint) ? input : nil
        }
        for (offset, place) in places.enumerated() where offset + changes <= places.count {
            var values = input.values
            let words = vocabulary.values[input.form.components[place]] ?? []
            for value in words where value != input.values[place] {
                guard work.left > 0 else { return nil }
                values[place] = value
                let changed = FingerprintInput(input.form, values)
                let rest = places.dropFirst(offset + 1)
                if let found = search(changed, changes - 1, of: rest, vocabulary, &work) { return found }
            }
        }
        return nil
    }
}

/// Vocabularies of the values in the tables, and of all spellings of a click's values.
extension FingerprintSearch.Vocabulary {
    /// Creates a vocabulary of every value in the tables, with releases ordered by their share, and other values by
    /// size or name.
    public init(_ data: DeviceData) {
        self.init([
            .model: ["iPhone", "iPad", "iPod touch"],
            .osVersion: data.releases.all.map(\.text),
            .screen: data.screens.iosScreens.map(\.text),
            .width: data.screens.panelWidths.map(String.init),
            .timezone: data.timeZones.names,
            .language: data.languages.codes,
        ])
    }

    /// Adds every value that apps on a device with these signals may hash.
    ///
    /// - Parameters:
    ///   - signals: the signals of a click.
    ///   - localization: the languages that the app comes in.
    ///   - data: the tables with the spellings of values.
    public mutating func add(_ signals: CanonicalSignals, _ localization: AppLocalization, _ data: DeviceData)
    {
        let spellings = SignalSpellings(signals, localization, data)
        for component in SignalComponent.allCases {
            for place in spellings.positions(of: component) {
                let text = spellings.choices[place].text
                guard !values[component, default: []].contains(text) else { continue }
                values[component, default: []].append(text)
            }
        }
    }
}

extension ScreenTable {
    /// The screens in points, the smallest first.
    var iosScreens: [ScreenSize] { widths.keys.sorted { ($0.width, $0.height) < ($1.width, $1.height) } }

    /// The panel widths of iPhones, iPads and Android devices, in pixels, ascending.
    var panelWidths: [Int] {
        let ios = widths.values.flatMap { $0.values.flatMap { $0.map(\.pixels) } }
        return Set(ios + androidPanels).sorted()
    }
}

extension TimeZoneTable {
    /// Every name that a system may have for a zone.
    var names: [String] { positions.keys.sorted() }
}

extension LanguageTable {
    /// Every current code of a language, and every other spelling that systems use.
    var codes: [String] {
        let spelled = [iosSpellings, androidSpellings].flatMap { $0.values.flatMap { $0.map(\.text) } }
        return Set(canonicalCodes.values + spelled).sorted()
    }
}
