internal import Attribution

/// The address of a page of the dashboard, with the whole state of the page in its query.
struct DashboardAddress: Sendable {
    var path: String
    private(set) var items: [QueryItem]

    init(_ path: String, _ items: [QueryItem] = []) {
        self.path = path
        self.items = items
    }

    /// The path and the query, as a link has them.
    var text: String { items.isEmpty ? path : path + "?" + QueryItem.query(of: items) }

    subscript(name: String) -> String? {
        get { items.first { $0.name == name }?.value }
        set {
            items.removeAll { $0.name == name }
            if let newValue, !newValue.isEmpty { items.append(QueryItem(name: name, value: newValue)) }
        }
    }

    /// Returns the address with another value of an item, or without the item.
    func with(_ name: String, _ value: String?) -> DashboardAddress {
        var address = self
        address[name] = value
        return address
    }

    /// Returns the address of another page with the items that all pages read: app, traffic, period and comparison.
    func page(_ path: String) -> DashboardAddress {
        DashboardAddress(path, items.filter { Self.commonNames.contains($0.name) })
    }

    static let commonNames: Set = ["app", "test", "period", "from", "to", "compare"]
}
