/// Elements in the order of time; the oldest ones can be dropped.
///
/// An element keeps its index when elements before it are dropped.
struct TimeOrdered<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    /// Elements before this index of the array are dropped, but still use memory.
    private var start = 0
    /// The number of dropped elements that were removed from the array.
    private var goneCount = 0

    var isEmpty: Bool { start == elements.count }
    /// The index of the first remaining element.
    var firstIndex: Int { goneCount + start }
    /// The index of the next element to come.
    var endIndex: Int { goneCount + elements.count }

    /// All remaining elements.
    var rest: ArraySlice<Element> { elements[start...] }

    /// Returns the remaining elements that are not early; all early elements come before them.
    func rest(afterAll isEarly: (Element) -> Bool) -> ArraySlice<Element> {
        var (low, high) = (start, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isEarly(elements[middle]) { low = middle + 1 } else { high = middle }
        }
        return elements[low...]
    }

    subscript(index: Int) -> Element? {
        get {
            let position = index - goneCount
            return position >= start && position < elements.count ? elements[position] : nil
        }
        set {
            let position = index - goneCount
            guard let newValue, position >= start, position < elements.count else { return }
            elements[position] = newValue
        }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    var first: Element? { isEmpty ? nil : elements[start] }

    /// Drops the first element, which must exist.
    mutating func removeFirst() {
        start += 1
        // The array is shortened once over half is dropped, so that a drop moves at most one element on average.
        guard start > 16, start > elements.count / 2 else { return }
        elements.removeFirst(start)
        goneCount += start
        start = 0
    }
}
