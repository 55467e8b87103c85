/// Elements in the order of time, dropped from the front when they no longer count.
///
/// An element keeps its index whatever is dropped before it.
struct TimeOrdered<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    /// Elements before this place in the array are dropped and still take memory.
    private var start = 0
    /// Elements that are dropped and gone.
    private var goneCount = 0

    var isEmpty: Bool { start == elements.count }
    var count: Int { elements.count - start }
    /// The index of the first element that is left.
    var firstIndex: Int { goneCount + start }
    /// The index of the next element to come.
    var endIndex: Int { goneCount + elements.count }

    /// All that is left.
    var rest: ArraySlice<Element> { elements[start...] }

    subscript(index: Int) -> Element? {
        get {
            let place = index - goneCount
            return place >= start && place < elements.count ? elements[place] : nil
        }
        set {
            let place = index - goneCount
            guard let newValue, place >= start, place < elements.count else { return }
            elements[place] = newValue
        }
    }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    var first: Element? { isEmpty ? nil : elements[start] }

    /// Drops the first element; there must be one.
    mutating func removeFirst() {
        start += 1
        // Moving the rest costs as much as there is of it: each element moves once on average.
        guard start > 16, start > elements.count / 2 else { return }
        elements.removeFirst(start)
        goneCount += start
        start = 0
    }
}
