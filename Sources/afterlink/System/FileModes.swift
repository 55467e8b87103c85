internal import Glibc

/// The modes of a service's files.
enum FileModes {
    /// Removes the rights of other users to the database and the files beside it.
    ///
    /// To be called before the database is opened: SQLite gives new files beside it the database's own mode. Folders
    /// are left as they are, since other users may share them.
    ///
    /// - Returns: what was found, for the operator.
    static func tighten(database path: String) -> [String] {
        let files = [path, path + "-wal", path + "-shm"].compactMap(tighten)
        let folder = TextFile.directory(of: path)
        // With the sticky bit, users cannot move the files of others.
        guard let mode = mode(of: folder), mode & 0o022 != 0, mode & S_ISVTX == 0 else { return files }
        return files + [
            "the folder \(folder) can be changed by others than its owner (mode \(octal(mode))), who could put"
                + " another database into the place of this one; run `chmod go-w \(ShellWord.quoted(operand: folder))`"
        ]
    }

    private static func tighten(_ path: String) -> String? {
        guard let mode = mode(of: path), mode & 0o077 != 0 else { return nil }
        // The path lives for the call.
        guard unsafe chmod(path, mode & 0o700) == 0 else {
            return "\(path) can be read or changed by others than its owner (mode \(octal(mode))), and "
                + "\(SystemError("cannot change the mode of", path).text); run `chmod 600` on it as its owner"
        }
        return "\(path) could be read or changed by others than its owner (mode \(octal(mode)));"
            + " it is \(octal(mode & 0o700)) now"
    }

    /// The permission bits; nil where there is no file.
    private static func mode(of path: String) -> mode_t? {
        var status = stat()
        // The kernel fills the local value.
        guard unsafe stat(path, &status) == 0 else { return nil }
        return status.st_mode & 0o7777
    }

    private static func octal(_ mode: mode_t) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
