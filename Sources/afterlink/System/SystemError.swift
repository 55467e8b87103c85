internal import Glibc

/// An error of the operating system.
struct SystemError: Error, Equatable {
    /// As in "cannot open".
    let action: String
    /// The file or address it was about.
    let subject: String
    let number: Int32

    /// The error that the last system call left behind.
    init(_ action: String, _ subject: String, number: Int32 = errno) {
        self.action = action
        self.subject = subject
        self.number = number
    }

    /// As in `cannot open /var/lib/x: Permission denied`.
    var text: String {
        // The system's text is copied before anybody can ask for another one.
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return "\(action) \(subject): \(reason)"
    }
}
