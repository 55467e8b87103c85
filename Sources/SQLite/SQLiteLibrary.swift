internal import CSQLite

/// The SQLite library that this process runs with.
public enum SQLiteLibrary {
    /// As in `3.40.1`.
    public static var version: String {
        // A constant text of the library.
        unsafe String(cString: sqlite3_libversion())
    }
}
