internal import CSQLite

/// The SQLite library that this process uses.
public enum SQLiteLibrary {
    /// The version, such as `3.40.1`.
    public static var version: String {
        // SQLite returns a constant text.
        unsafe String(cString: sqlite3_libversion())
    }
}
