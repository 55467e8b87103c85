internal import SQLite

/// A connection as it is read from: the questions that statements answer, in extensions by subject.
///
/// Belongs to its connection's thread, and sees what the connection's transaction sees.
struct SQLiteReader {
    let connection: SQLiteConnection
}
