extension DeepLinkURL {
    /// Whether the link leads to one of the destinations; any link does when there are none.
    public func isAllowed(by destinations: [Destination]) -> Bool {
        destinations.isEmpty || destinations.contains { $0.covers(self) }
    }
}

extension App.Settings {
    /// Whether a stranger's click may lead to `url`: one of ``destinations``, or anywhere without any.
    ///
    /// A stored destination that cannot be read allows nothing.
    public func allows(_ url: DeepLinkURL) -> Bool {
        destinations.isEmpty
            || destinations.contains { (try? Destination(parsing: $0))?.covers(url) ?? false }
    }

    /// Whether pages of `origin` may post clicks: one of ``allowedOrigins``, or any when there are none.
    public func allows(_ origin: Origin) -> Bool {
        allowedOrigins.isEmpty || allowedOrigins.contains { Origin($0) == origin }
    }
}
