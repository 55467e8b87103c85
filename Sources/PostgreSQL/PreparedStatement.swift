#if PostgreSQL

/// A text of SQL, composed only of literals, integers and other texts of this type.
///
/// Text from run time cannot be interpolated, so a value can enter a statement only as a parameter. Integers
/// can be interpolated, because a statement must name a partition by a constant: only then does the server
/// skip the other partitions when it plans.
public struct SQLText: Hashable, Sendable, ExpressibleByStringInterpolation {
    public let text: String

    /// Creates a statement of a migration, which is a part of the program.
    public init(ofMigration text: String) { self.text = text }

    public init(stringLiteral literal: StaticString) { text = literal.description }
    public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 256 * interpolationCount)
        }

        public mutating func appendLiteral(_ literal: StaticString) { text += literal.description }
        public mutating func appendInterpolation(_ literal: StaticString) { appendLiteral(literal) }
        public mutating func appendInterpolation(_ part: SQLText) { text += part.text }
        public mutating func appendInterpolation(_ number: some FixedWidthInteger) { text += String(number) }
    }
}

/// A statement that each connection prepares once, when it first executes the statement.
///
/// The object is the statement's identity: a program creates one for each text, not one for each execution. So keep
/// each literal in a static property, unless a connection executes the statement only once. The parameters are `$1`,
/// `$2` and so on; the values of the first execution determine their types.
public final class PreparedStatement: Sendable, ExpressibleByStringInterpolation {
    public typealias StringLiteralType = StaticString
    public typealias StringInterpolation = SQLText.StringInterpolation

    public let text: String

    public init(_ sql: SQLText) { text = sql.text }
    public init(stringLiteral literal: StaticString) { text = literal.description }
    public init(stringInterpolation: SQLText.StringInterpolation) { text = stringInterpolation.text }
}

/// The values of a statement's parameters, in binary form.
public struct Parameters: Sendable {
    /// For each parameter its length and its bytes, as in the protocol's message Bind.
    private(set) var fields: [UInt8] = []
    /// The types of the parameters.
    private(set) var types: [TypeID] = []

    public init<each Value: PostgreSQLValue>(_ values: repeat each Value) {
        for value in repeat each values { append(value) }
    }

    /// Appends an array as the next parameter.
    public mutating func append(_ array: ColumnArray) {
        types.append(array.type)
        array.appendField(to: &fields)
    }

    /// Appends the next parameter.
    public mutating func append<Value: PostgreSQLValue>(_ value: Value) {
        types.append(Value.type)
        value.appendField(to: &fields)
    }
}

/// Statements that the server executes as one transaction, which commits if all of them succeed.
public struct StatementBatch: Sendable {
    struct Step: Sendable {
        let statement: PreparedStatement
        let parameters: Parameters
    }

    private(set) var steps: [Step] = []

    public init() {}

    public var count: Int { steps.count }

    public mutating func append(_ statement: PreparedStatement, _ parameters: Parameters) {
        steps.append(Step(statement: statement, parameters: parameters))
    }

    public mutating func append<each Value: PostgreSQLValue>(
        _ statement: PreparedStatement,
        _ values: repeat each Value
    ) {
        append(statement, Parameters(repeat each values))
    }
}

#endif
