/// Runs a statement completely, from binding its values to its reset.
extension Statement {
    /// Binds all parameters in order.
    @inlinable
    public func bind<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            try value.bind(to: self, at: index)
        }
        assert(index == parameterCount, "every parameter is bound, none is left over")
    }

    /// Runs the statement to its end and ignores its rows.
    @inlinable
    public func run<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) {
        try bind(repeat each values)
        while try step() {}
        reset()
    }

    /// Returns the result of `read` for the first row; nil if there is none.
    @inlinable
    public func first<each Value: Bindable, Result>(
        _ values: repeat each Value,
        read: (Statement) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        try bind(repeat each values)
        defer { reset() }
        return try step() ? read(self) : nil
    }

    /// Returns the results of `read` for all rows.
    @inlinable
    public func all<each Value: Bindable, Result>(
        _ values: repeat each Value,
        read: (Statement) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> [Result] {
        var results: [Result] = []
        try forEach(repeat each values) { row throws(SQLiteError) in results.append(try read(row)) }
        return results
    }

    @inlinable
    public func forEach<each Value: Bindable>(
        _ values: repeat each Value,
        do body: (Statement) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try bind(repeat each values)
        defer { reset() }
        while try step() { try body(self) }
    }
}
