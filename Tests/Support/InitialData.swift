#if PostgreSQL
internal import Foundation

/// The data of a new PostgreSQL server; each server of this process but standbys starts with a copy of it.
///
/// A copy needs a tenth of the processor time that `initdb` needs.
struct InitialData: Sendable {
    static let common = Result { try InitialData() }

    /// The folder of the data.
    let data: String
    /// The password of ``PostgreSQLCluster/user``.
    let password = UUID().uuidString
    /// Deletes the folder when this process ends.
    private let supervisor: Supervisor

    private init() throws {
        guard let programs = PostgreSQLCluster.programs else {
            throw ChildProcess.Failure(description: PostgreSQLCluster.missing)
        }
        let folder = try PostgreSQLCluster.makeFolder()
        supervisor = try Supervisor(
            PostgreSQLCluster.asServerUser(["sh", "-c", #"read -r line; rm -rf "$1""#, "sh", folder.path])
        )
        data = folder.appending(path: "data").path
        let script = #"""
            umask 077
            printf '%s' "$2" >"$3/password"
            "$1" -D "$3/data" -U "$4" --pwfile "$3/password" --no-sync --auth-local=trust \
                --auth-host=scram-sha-256 --encoding=UTF8 --locale=C
            """#
        _ = try PostgreSQLCluster.runProgram(
            PostgreSQLCluster.asServerUser([
                "sh", "-c", script, "sh", programs.appending(path: "initdb").path, password, folder.path,
                PostgreSQLCluster.user,
            ])
        )
    }
}
#endif
