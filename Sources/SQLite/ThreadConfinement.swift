import Glibc

/// Notices at once when what belongs to one thread is used on another.
///
/// SQLite connections are opened without a mutex of their own (sqlite.org/threadsafe.html, "multi-thread"), so
/// that two threads on one connection would corrupt its memory.
final class ThreadConfinement {
    private var owner: pthread_t?

    /// The first thread that uses it owns it.
    @inline(__always)
    func check() {
        let current = pthread_self()
        guard owner != current else { return }
        precondition(owner == nil, "a connection is used by the thread that used it first, and by no other")
        owner = current
    }

    /// Lets go, so that another thread may take over.
    ///
    /// The caller sees to it that both do not run at once.
    func release() {
        owner = nil
    }
}
