import Glibc

/// Traps when an object of one thread is used on another.
///
/// SQLite connections are opened without a mutex (sqlite.org/threadsafe.html, "multi-thread"), so that two
/// threads on one connection would corrupt its memory.
final class ThreadConfinement {
    private var owner: pthread_t?

    /// Traps unless the current thread owns the object; the first thread that calls this becomes the owner.
    @inline(__always)
    func check() {
        let current = pthread_self()
        guard owner != current else { return }
        precondition(owner == nil, "a connection is used by the thread that used it first, and by no other")
        owner = current
    }

    /// Releases the object, so that another thread may become its owner.
    ///
    /// The caller ensures that both threads do not use it at the same time.
    func release() { owner = nil }
}
