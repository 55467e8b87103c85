#if PostgreSQL
import PostgreSQL
import Support
import Testing

@Suite("Values of PostgreSQL", .blocking, .onPostgreSQL)
struct ValueTests {
    private let harness: ConnectionHarness

    init() throws { harness = try ConnectionHarness(PostgreSQLTestDatabase()) }

    /// Sends each value and NULL, and compares what the server returns and how the server writes the value.
    private func expect<Value: PostgreSQLValue & Equatable & Sendable>(_ values: [Value: String]) throws {
        let statement = PreparedStatement("SELECT $1, $1::text")
        for (value, text) in values {
            let (found, written, null) = try harness.whenReady { connection in
                let row = try await connection.read(statement, Optional(value))
                let empty = try await connection.read(statement, nil as Value?)
                return (
                    try row.value(0, 0, as: Value.self), try row.value(0, 1, as: String.self),
                    try empty.value(0, 0, as: Value?.self)
                )
            }
            #expect(found == value && written == text && null == nil)
        }
    }

    @Test("are the same after they were sent and read back")
    func roundTrips() throws {
        try expect([Int16.min: "-32768", 7: "7"])
        try expect([Int32.min: "-2147483648", Int32.max: "2147483647"])
        try expect([Int64.min: "-9223372036854775808", -1: "-1", Int64.max: "9223372036854775807"])
        try expect([UInt64.max: "-1", 5: "5"])
        try expect([Float(1.5): "1.5", -Float.infinity: "-Infinity"])
        try expect([0.1: "0.1", Double.greatestFiniteMagnitude: "1.7976931348623157e+308"])
        try expect([true: "true", false: "false"])
        try expect(["": "", "ğ€𝄞\n'\\": "ğ€𝄞\n'\\"])
        try expect([[UInt8]([]): "\\x", [0, 255, 10]: "\\x00ff0a"])
        try expect([
            PostgreSQLUUID(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff):
                "00112233-4455-6677-8899-aabbccddeeff"
        ])
        try expect([PostgreSQLTime(microseconds: 1_700_000_000_123_456): "2023-11-14 22:13:20.123456+00"])
        try expect([[Int64]([]): "{}", [1, -2]: "{1,-2}"])
        try expect([[Int64?.none, 3]: "{NULL,3}"])
        try expect([["a,b", "c"]: "{\"a,b\",c}"])
        try expect([[[UInt8]]([[1], []]): "{\"\\\\x01\",\"\\\\x\"}"])
        try expect([[true, false]: "{t,f}"])
    }

    @Test("that are texts get U+001A in place of U+0000, which PostgreSQL does not store")
    func zeros() throws {
        let statement = PreparedStatement("SELECT $1, $2, octet_length($1)")
        let texts = ["\0", "", "ğ\0\0"]
        let row = try harness.whenReady { try await $0.read(statement, "a\0ğ\0", texts) }
        #expect(try row.value(0, 0, as: String.self) == "a\u{1A}ğ\u{1A}")
        #expect(try row.value(0, 1, as: [String].self) == ["\u{1A}", "", "ğ\u{1A}\u{1A}"])
        #expect(try row.value(0, 2, as: Int64.self) == 5)
    }

    @Test("with a smaller number type are read as a larger type; every other type is refused")
    func types() throws {
        let statement = PreparedStatement(
            "SELECT 1::int2, 2::int4, 3::int8, 0.5::float4, 'x'::name, NULL::int8"
        )
        let row = try harness.whenReady { try await $0.read(statement) }
        #expect(try row.value(0, 0, as: Int64.self) == 1 && row.value(0, 1, as: Int64.self) == 2)
        #expect(try row.value(0, 3, as: Double.self) == 0.5 && row.value(0, 4, as: String.self) == "x")
        #expect(row.isColumn(0, named: "int2") && !row.isColumn(0, named: "int4"))
        func kind(_ read: () throws(PostgreSQLError) -> Void) -> PostgreSQLError.Kind? {
            do throws(PostgreSQLError) { try read() } catch { return error.kind }
            return nil
        }
        #expect(
            kind { () throws(PostgreSQLError) in _ = try row.value(0, 2, as: Int32.self) } == .unexpectedValue
        )
        #expect(
            kind { () throws(PostgreSQLError) in _ = try row.value(0, 2, as: Double.self) }
                == .unexpectedValue
        )
        #expect(
            kind { () throws(PostgreSQLError) in _ = try row.value(0, 2, as: String.self) }
                == .unexpectedValue
        )
        #expect(
            kind { () throws(PostgreSQLError) in _ = try row.value(0, 5, as: Int64.self) } == .unexpectedValue
        )
        #expect(
            kind { () throws(PostgreSQLError) in _ = try row.value(1, 0, as: Int64?.self) }
                == .unexpectedValue
        )
        #expect(
            kind { () throws(PostgreSQLError) in _ = try row.value(0, 6, as: Int64?.self) }
                == .unexpectedValue
        )
    }
}
#endif
