/// A value that can replace a `?` in SQL.
public protocol Bindable {
    /// Binds the value to the parameter with this number; the first is 1.
    func bind(to statement: Statement, at index: Int32) throws(SQLiteError)
}

extension Int64: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindInteger(self, at: index)
    }
}

extension Int: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindInteger(Int64(self), at: index)
    }
}

/// Stored as the signed integer of the same 64 bits.
extension UInt64: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindInteger(Int64(bitPattern: self), at: index)
    }
}

/// Stored as 0 or 1.
extension Bool: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindInteger(self ? 1 : 0, at: index)
    }
}

extension Double: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindReal(self, at: index)
    }
}

extension String: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindText(self, at: index)
    }
}

extension [UInt8]: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        try statement.bindBlob(self, at: index)
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    @inlinable
    public func bind(to statement: Statement, at index: Int32) throws(SQLiteError) {
        switch self {
        case .some(let value): try value.bind(to: statement, at: index)
        case .none: try statement.bindNull(at: index)
        }
    }
}
