internal import Glibc

/// A file descriptor that is closed with its owner.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    /// Takes a descriptor over; `nil` for a negative one, which is how the system says no.
    init?(_ number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        _ = close(number)
    }
}
