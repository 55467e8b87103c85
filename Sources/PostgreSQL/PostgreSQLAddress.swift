#if PostgreSQL

/// The servers, the user and the database of a URL such as `postgres://user@host:5432,host2/database?sslmode=require`.
///
/// Source: PostgreSQL's manual, "Connection URIs", with the percent-encoding of RFC 3986.
public struct PostgreSQLAddress: Equatable, Sendable {
    /// One server of several, of which one at a time is the primary.
    public struct Host: Hashable, Sendable {
        /// A name, a numeric address, or the folder of a Unix socket, which begins with `/` or `@`.
        public let name: String
        public let port: UInt16

        public var isSocket: Bool { name.hasPrefix("/") || name.hasPrefix("@") }

        /// Whether the connection does not leave this machine.
        public var isLocal: Bool {
            isSocket || name == "localhost" || name == "::1" || isIPv4 && name.hasPrefix("127.")
        }

        /// The addresses of a host whose name needs no look-up; nil for other hosts.
        ///
        /// The name `localhost` is always this machine (RFC 6761 §6.3).
        var numericAddresses: [String]? {
            if name == "localhost" { return ["127.0.0.1", "::1"] }
            return isIPv4 || name.contains(":") ? [name] : nil
        }

        private var isIPv4: Bool {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        }
    }

    /// The parameters that a URL may have.
    public enum Parameter: String, CaseIterable, Sendable {
        case applicationName = "application_name"
        case connectTimeout = "connect_timeout"
        case host = "host"
        case passfile = "passfile"
        case port = "port"
        case certificate = "sslcert"
        case revocations = "sslcrl"
        case key = "sslkey"
        case sslMode = "sslmode"
        case roots = "sslrootcert"
        case targetSession = "target_session_attrs"
    }

    public let user: String
    public let database: String
    public let hosts: [Host]
    /// The password of the URL; nil if the URL has none.
    let password: String?
    private let parameters: [Parameter: String]

    /// The time for an attempt to connect to one address.
    var connectTimeout: Duration {
        .seconds(parameters[.connectTimeout].flatMap { Int($0) } ?? Self.defaultConnectSeconds)
    }

    private static let defaultConnectSeconds = 2
    private static let defaultPort: UInt16 = 5432

    /// The URL's parameters that libpq gets unchanged, with defaults for `sslmode` and `application_name`.
    ///
    /// If the URL has no `sslmode` and all hosts are this machine, connections are not encrypted. If it has
    /// no `sslmode` and a host is another machine, connections are encrypted, and libpq verifies the server.
    var libraryWords: [(name: String, value: String)] {
        let own: Set<Parameter> = [.connectTimeout, .host, .port, .targetSession]
        var words = parameters
        if words[.sslMode] == nil {
            words[.sslMode] = hosts.allSatisfy(\.isLocal) ? "disable" : Self.verified
        }
        if words[.applicationName] == nil { words[.applicationName] = "afterlink" }
        return words.filter { !own.contains($0.key) }.map { ($0.key.rawValue, $0.value) }
    }

    private static let verified = "verify-full"
    private static let sslModes = ["disable", "allow", "prefer", "require", "verify-ca", verified]

    /// Reads a URL.
    ///
    /// - Parameters:
    ///   - url: the URL; the scheme may be `postgres` or `postgresql`.
    ///   - mayHavePassword: whether the URL may contain a password. Pass false for a URL that other users of the
    ///     machine can read, such as an argument of a command.
    ///   - nearest: returns the known word that a mistyped word probably means.
    /// - Throws: an error that repeats neither user nor password.
    public init(
        parsing url: String,
        mayHavePassword: Bool = false,
        nearest: (_ word: String, _ known: [String]) -> String? = { _, _ in nil }
    ) throws(PostgreSQLAddressError) {
        guard let scheme = ["postgres://", "postgresql://"].first(where: url.hasPrefix) else {
            throw PostgreSQLAddressError("A PostgreSQL address has the form postgres://user@host/database.")
        }
        guard !url.contains("#") else {
            throw PostgreSQLAddressError("Write # as %23 in a PostgreSQL address.")
        }
        let (place, query) = Self.halves(url.dropFirst(scheme.count), "?")
        let (authority, path) = Self.halves(place, "/")
        parameters = try Self.parameters(query ?? "", nearest)
        // Split at the last @, because the user or the password may contain an unencoded @. A split at the first one
        // would then make the rest of the password a part of the host, and error messages contain the host.
        let at = authority.lastIndex(of: "@") ?? authority.startIndex
        let (userPart, passwordPart) = Self.halves(authority[..<at], ":")
        guard !userPart.contains("@"), passwordPart?.contains("@") != true else {
            throw PostgreSQLAddressError(
                "Write @ as %40 in the user and the password of a PostgreSQL address."
            )
        }
        user = try Self.decoded(userPart, "user")
        database = try Self.decoded(path ?? "", "database")
        guard !user.isEmpty, !database.isEmpty, path?.contains("/") == false else {
            throw PostgreSQLAddressError(
                "A PostgreSQL address needs a user and a database, as in postgres://user@host/database."
            )
        }
        password = try passwordPart.map { part throws(PostgreSQLAddressError) in
            try Self.decoded(part, "password")
        }
        guard password == nil || mayHavePassword else {
            throw PostgreSQLAddressError(
                "The address contains a password, which other users of this machine could read. Set AFTERLINK_DATABASE"
                    + " or PGPASSWORD instead, name a file with --database-password-file, or use ~/.pgpass."
            )
        }
        let listed = authority[at...].drop { $0 == "@" }
        hosts = try Self.hosts(listed, parameters)
        try Self.check(parameters, hosts)
    }

    private static func halves(_ text: Substring, _ separator: Character) -> (Substring, Substring?) {
        guard let index = text.firstIndex(of: separator) else { return (text, nil) }
        return (text[..<index], text[text.index(after: index)...])
    }

    /// Returns the text that a percent-encoded part represents.
    private static func decoded(_ part: Substring, _ name: String) throws(PostgreSQLAddressError) -> String {
        var bytes: [UInt8] = []
        var rest = part.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 2, digits != [0, 0] else { throw wrongEncoding(name) }
            bytes.append(UInt8(digits[0] * 16 + digits[1]))
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw wrongEncoding(name)
        }
        return text
    }

    private static func wrongEncoding(_ name: String) -> PostgreSQLAddressError {
        PostgreSQLAddressError(
            "In the \(name) of the PostgreSQL address, each % must be followed by the two digits of a byte of"
                + " UTF-8 that is not 00."
        )
    }

    private static func parameters(
        _ query: Substring,
        _ nearest: (String, [String]) -> String?
    ) throws(PostgreSQLAddressError) -> [Parameter: String] {
        var parameters: [Parameter: String] = [:]
        for item in query.split(separator: "&") {
            let (namePart, valuePart) = halves(item, "=")
            let name = try decoded(namePart, "parameter")
            guard let parameter = Parameter(rawValue: name) else {
                if name == "password" {
                    throw PostgreSQLAddressError(
                        "The address contains a password. Set PGPASSWORD instead, name a file with"
                            + " --database-password-file, or use ~/.pgpass."
                    )
                }
                let known = Parameter.allCases.map(\.rawValue)
                let advice =
                    nearest(name, known).map { "Did you mean \($0)?" }
                    ?? "It can have \(known.joined(separator: ", "))."
                throw PostgreSQLAddressError(
                    "A PostgreSQL address has no parameter \"\(name)\" here. \(advice)"
                )
            }
            guard let valuePart, !valuePart.isEmpty, parameters[parameter] == nil else {
                throw PostgreSQLAddressError("The parameter \(name) of the address needs one value.")
            }
            parameters[parameter] = try decoded(valuePart, "parameter \(name)")
        }
        return parameters
    }

    /// Reads the hosts from the part before the path or, if that part is empty, from the parameters `host` and `port`.
    private static func hosts(
        _ authority: Substring,
        _ parameters: [Parameter: String]
    ) throws(PostgreSQLAddressError) -> [Host] {
        var names: [String] = []
        var ports: [String] = []
        if authority.isEmpty {
            names = (parameters[.host] ?? "").split(separator: ",").map(String.init)
            ports = (parameters[.port] ?? "").split(separator: ",").map(String.init)
            if ports.count == 1 { ports = Array(repeating: ports[0], count: names.count) }
            if ports.isEmpty { ports = Array(repeating: "", count: names.count) }
        } else if parameters[.host] == nil, parameters[.port] == nil {
            for part in authority.split(separator: ",", omittingEmptySubsequences: false) {
                // An IPv6 address, which contains colons, is in brackets.
                let end = part.hasPrefix("[") ? part.firstIndex(of: "]") : nil
                let colon = part[(end ?? part.startIndex)...].firstIndex(of: ":") ?? part.endIndex
                let name = end.map { part[part.index(after: part.startIndex)..<$0] } ?? part[..<colon]
                guard end.map({ part.index(after: $0) == colon }) ?? !part.hasPrefix("[") else {
                    throw PostgreSQLAddressError(
                        "An IPv6 address in a PostgreSQL address has the form [::1]:5432."
                    )
                }
                names.append(try decoded(name, "host"))
                ports.append(String(part[colon...].dropFirst()))
            }
        }
        let numbers = ports.map { $0.isEmpty ? defaultPort : UInt16($0) ?? 0 }
        guard !names.isEmpty, names.count == numbers.count, !numbers.contains(0),
            names.allSatisfy({ !$0.isEmpty })
        else {
            throw PostgreSQLAddressError(
                "A PostgreSQL address needs a host, and each port is from 1 to 65535, as in"
                    + " postgres://user@host:5432,host2/database or postgres://user@/database?host=/run/postgresql."
            )
        }
        return zip(names, numbers).map(Host.init(name:port:))
    }

    private static func check(_ parameters: [Parameter: String], _ hosts: [Host])
        throws(PostgreSQLAddressError)
    {
        if let mode = parameters[.sslMode] {
            guard sslModes.contains(mode) else {
                throw PostgreSQLAddressError("sslmode can be \(sslModes.joined(separator: ", ")).")
            }
            guard mode == verified || hosts.allSatisfy(\.isLocal) else {
                throw PostgreSQLAddressError(
                    "With sslmode=\(mode) another server could take the database's place. Remove sslmode,"
                        + " and set sslrootcert to the file of the authority that issued the server's"
                        + " certificate."
                )
            }
        }
        guard parameters[.targetSession] ?? "read-write" == "read-write" else {
            throw PostgreSQLAddressError("target_session_attrs can only be read-write.")
        }
        guard let seconds = parameters[.connectTimeout] else { return }
        guard let number = Int(seconds), (1...60).contains(number) else {
            throw PostgreSQLAddressError("connect_timeout is a number of seconds from 1 to 60.")
        }
    }
}

/// The reason why a text is not the address of a PostgreSQL database.
public struct PostgreSQLAddressError: Error, Equatable, Sendable {
    /// A sentence for the operator with advice; it contains neither user nor password.
    public let message: String

    init(_ message: String) { self.message = message }
}

#endif
