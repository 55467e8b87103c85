#if PostgreSQL
internal import Attribution
internal import PostgreSQL
#endif

/// The URL of a PostgreSQL database, as the settings contain it.
package enum DatabaseURL {
    /// The kind of database on a server and the form of its URL, for the help of the setting.
    static let forms = "a PostgreSQL database, as in postgres://user@host/database"

    /// Returns the scheme of a PostgreSQL URL; nil for other texts, such as the path of a file.
    static func scheme(of text: String) -> String? {
        ["postgres", "postgresql"].first { text.hasPrefix($0 + "://") }
    }

    /// Returns the URL without user, password and parameters.
    static func withoutSecrets(_ url: String) -> String {
        guard let scheme = scheme(of: url) else { return url }
        let rest = url.dropFirst(scheme.count + 3).prefix { $0 != "?" }
        let start = rest.lastIndex(of: "@").map { rest.index(after: $0) } ?? rest.startIndex
        return "\(scheme)://\(rest[start...])"
    }

    /// Whether the user part of a PostgreSQL URL contains a password.
    static func hasPassword(_ url: String) -> Bool {
        guard let scheme = scheme(of: url) else { return false }
        let rest = url.dropFirst(scheme.count + 3)
        return rest.lastIndex(of: "@").map { rest[..<$0].contains(":") } ?? false
    }

    /// Why a password is refused on the command line.
    static let visiblePassword =
        "contains a password, which every user of this machine can read in the list of processes; set AFTERLINK_DATABASE or"
        + " PGPASSWORD instead, name a file with --database-password-file, or use ~/.pgpass"

    /// Returns the end of a sentence about what is wrong with a PostgreSQL URL; nil if nothing is.
    ///
    /// A program that was built without the package trait `PostgreSQL` cannot use any PostgreSQL URL.
    static func fault(of url: String) -> String? {
        #if PostgreSQL
        do throws(PostgreSQLAddressError) {
            _ = try PostgreSQLAddress(
                parsing: url,
                mayHavePassword: true,
                nearest: { Suggestion.nearest(to: $0, among: $1) }
            )
            return nil
        } catch { return "is no address of a PostgreSQL database. \(error.message)" }
        #else
        return
            "is a PostgreSQL database, which this program was built without; build it with `\(buildCommand)`"
        #endif
    }

    /// The command that builds a program for PostgreSQL.
    package static let buildCommand =
        "swift build -c release --static-swift-stdlib --traits PostgreSQL --product afterlink"
}
