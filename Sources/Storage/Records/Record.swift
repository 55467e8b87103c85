/// The names of columns, in the order in which a record writes and reads them.
public struct Columns: Sendable, ExpressibleByArrayLiteral {
    public let names: [StaticString]

    public init(arrayLiteral names: StaticString...) {
        self.names = names
    }

    private init(_ names: [StaticString]) {
        self.names = names
    }

    public static func + (left: Columns, right: Columns) -> Columns {
        Columns(left.names + right.names)
    }

    /// Whether the column at `position`, counted from 0, has this name.
    public func hold(_ name: StaticString, at position: Int) -> Bool {
        names.indices.contains(position) && names[position].description == name.description
    }
}

/// What a table holds of one thing: a row's columns, named once.
///
/// ``columns`` lists them, ``write(to:)`` puts and ``init(_:)`` gets each by its name in that order. In a debug build
/// both stop the process where name and place differ; in a release build the name is gone.
///
/// A statement with more than six parameters takes a record.
public protocol Record {
    static var columns: Columns { get }

    func write(to row: inout some RowWriter)

    /// Nil for what this program cannot have written.
    init?(_ row: inout some RowReader)
}
