#if PostgreSQL
import PostgreSQL
import Testing

@Suite("The address of a PostgreSQL database")
struct PostgreSQLAddressTests {
    @Test(
        "has a user, a database and hosts",
        arguments: [
            ("postgres://me@db.example/links", "me", "links", [("db.example", 5432)]),
            (
                "postgresql://me@db.example:6000,[2001:db8::1]:7000,10.0.0.1/links", "me", "links",
                [("db.example", 6000), ("2001:db8::1", 7000), ("10.0.0.1", 5432)]
            ),
            ("postgres://m%40e@[::1]/l%C4%B1nks", "m@e", "lınks", [("::1", 5432)]),
            (
                "postgres://me@%2Frun%2Fpostgresql/links?application_name=a%26b", "me", "links",
                [("/run/postgresql", 5432)]
            ),
            (
                "postgres://me@/links?host=/run/a,/run/b&port=6000", "me", "links",
                [("/run/a", 6000), ("/run/b", 6000)]
            ),
            (
                "postgres://me@localhost/links?sslmode=prefer&connect_timeout=60", "me", "links",
                [("localhost", 5432)]
            ),
            (
                "postgres://me@db.example/links?sslmode=verify-full&target_session_attrs=read-write", "me",
                "links",
                [("db.example", 5432)]
            ),
        ] as [(String, String, String, [(String, UInt16)])]
    )
    func accepted(url: String, user: String, database: String, hosts: [(String, UInt16)]) throws {
        let address = try PostgreSQLAddress(parsing: url)
        #expect(address.user == user && address.database == database)
        #expect(address.hosts.map(\.name) == hosts.map(\.0) && address.hosts.map(\.port) == hosts.map(\.1))
    }

    @Test(
        "is refused with advice",
        arguments: [
            ("mysql://me@db/links", "postgres://user@host/database"),
            ("postgres://db.example/links", "a user"),
            ("postgres://me@db.example", "a database"),
            ("postgres://me@db.example/", "a database"),
            ("postgres://me@db.example/a/b", "a database"),
            ("postgres://me@/links", "a host"),
            ("postgres://me@,db/links", "a host"),
            ("postgres://me@db:0/links", "1 to 65535"),
            ("postgres://me@db:65536/links", "1 to 65535"),
            ("postgres://me@db/links?host=other", "a host"),
            ("postgres://me@[::1/links", "[::1]:5432"),
            ("postgres://me@db/links#x", "%23"),
            ("postgres://m%4@db/links", "two digits"),
            ("postgres://m%00@db/links", "two digits"),
            ("postgres://m%FF@db/links", "two digits"),
            ("postgres://me@db/links?ssl_mode=require", "Did you mean sslmode?"),
            ("postgres://me@db/links?options=-c%20x%3D1", "It can have application_name"),
            ("postgres://me@db/links?sslmode=require", "sslrootcert"),
            ("postgres://me@localhost,db/links?sslmode=disable", "sslrootcert"),
            ("postgres://me@localhost/links?sslmode=on", "verify-full"),
            ("postgres://me@db/links?target_session_attrs=any", "read-write"),
            ("postgres://me@db/links?connect_timeout=0", "1 to 60"),
            ("postgres://me@db/links?sslmode=verify-full&sslmode=verify-full", "one value"),
        ]
    )
    func refused(url: String, advice: String) {
        let error = #expect(throws: PostgreSQLAddressError.self) {
            try PostgreSQLAddress(parsing: url) { word, known in
                known.first { $0 == word.replacing("_", with: "") }
            }
        }
        #expect(error?.message.contains(advice) == true, "\(error?.message ?? "")")
    }

    @Test(
        "may contain a password only where other users cannot read it",
        arguments: [
            "postgres://me:secret@db/links", "postgres://me@db/links?password=secret",
            "postgres://me:secret@x@db/links", "postgres://me@x:secret@db/links",
        ]
    )
    func password(url: String) throws {
        let error = #expect(throws: PostgreSQLAddressError.self) { try PostgreSQLAddress(parsing: url) }
        #expect(error?.message.contains("secret") == false)
        #expect(error?.message.contains("--database-password-file") == true || url.contains("x"))
        #expect(throws: Never.self) {
            try PostgreSQLAddress(parsing: "postgres://me:secret@db/links", mayHavePassword: true)
        }
    }
}
#endif
