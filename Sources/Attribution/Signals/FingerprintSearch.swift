/// Finds again what a fingerprint was made of, from the values that recent clicks had.
///
/// A client that sends nothing but a hash does not say what it knows of its device; but of one that nearly fits a
/// click, some component has another value that is common in the traffic, and can be found by trying.
public struct FingerprintSearch: Sendable {
    /// The values to try for each component, the most common first.
    public struct Vocabulary: Equatable, Sendable {
        public var values: [SignalComponent: [String]]

        public init(_ values: [SignalComponent: [String]] = [:]) {
            self.values = values
        }

        /// Adds the values of an input that are missing, at the end.
        public mutating func add(_ input: FingerprintInput) {
            for (component, value) in zip(input.form.components, input.values)
            where !values[component, default: []].contains(value) {
                values[component, default: []].append(value)
            }
        }
    }

    private let vocabulary: Vocabulary
    private let limit: Int

    /// - Parameters:
    ///   - vocabulary: the values to try.
    ///   - limit: how many hashes a search may cost; a hash takes about a microsecond.
    public init(_ vocabulary: Vocabulary, limit: Int = 200_000) {
        self.vocabulary = vocabulary
        self.limit = limit
    }

    /// The input that hashes to `fingerprint`; nil when none is found within the limit.
    ///
    /// - Parameters:
    ///   - fingerprint: what the client sent.
    ///   - candidates: inputs of the nearest clicks, in every form, the nearest first: they are tried first, then
    ///     with one component changed, then with two. Then all combinations are, those of the shortest form first.
    /// - Returns: the input, of the client's own form.
    public func input(
        of fingerprint: Fingerprint,
        near candidates: [FingerprintInput]
    ) -> FingerprintInput? {
        var work = Work(fingerprint: fingerprint, left: limit)
        for changes in 0...2 {
            for candidate in candidates {
                if let found = search(candidate, changes: changes, &work) { return found }
            }
        }
        let forms = FingerprintForm.allCases.sorted { $0.components.count < $1.components.count }
        for form in forms {
            let empty = FingerprintInput(form, [String](repeating: "", count: form.components.count))
            if let found = search(empty, changes: form.components.count, &work) { return found }
        }
        return nil
    }

    private struct Work {
        let fingerprint: Fingerprint
        var left: Int
    }

    /// The places of a form's components, those with the fewest values to try first.
    private func order(_ form: FingerprintForm) -> [Int] {
        let counts = form.components.map { vocabulary.values[$0]?.count ?? 0 }
        return counts.indices.sorted { (counts[$0], $0) < (counts[$1], $1) }
    }

    /// Tries `input` with exactly `changes` of its components changed.
    private func search(
        _ input: FingerprintInput,
        changes: Int,
        _ work: inout Work
    ) -> FingerprintInput? {
        search(input, changes, of: order(input.form)[...], &work)
    }

    private func search(
        _ input: FingerprintInput,
        _ changes: Int,
        of places: ArraySlice<Int>,
        _ work: inout Work
    ) -> FingerprintInput? {
        guard changes > 0 else {
            guard work.left > 0 else { return nil }
            work.left -= 1
            return input.fingerprint == work.fingerprint ? input : nil
        }
        for (offset, place) in places.enumerated() where offset + changes <= places.count {
            var values = input.values
            let words = vocabulary.values[input.form.components[place]] ?? []
            for value in words where value != input.values[place] {
                guard work.left > 0 else { return nil }
                values[place] = value
                let changed = FingerprintInput(input.form, values)
                let rest = places.dropFirst(offset + 1)
                if let found = search(changed, changes - 1, of: rest, &work) { return found }
            }
        }
        return nil
    }
}
