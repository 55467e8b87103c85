/// Whether the server key is there and is the database's own.
enum ServerKeyExamination {
    static func diagnoses(_ configuration: Configuration, _ summary: DatabaseSummary) -> [Diagnosis] {
        let path = configuration.serverKeyPath
        do throws(CommandFailure) {
            let key = try ServerKeyCopy(at: path).key
            guard summary.fits(key) == false else {
                return [.ok("server_key", "\(path) is the database's own")]
            }
            return [
                .problem(
                    "server_key",
                    "\(path) is not the key that the database was made with: no click could be found",
                    "put its own back from the backup, or name it with --server-key-file"
                )
            ]
        } catch {
            return [.problem("server_key", error)]
        }
    }
}
