internal import Glibc

/// An open file, closed with its last use.
struct OpenFile: ~Copyable, Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens a file; one that is made by it can be read by its owner only.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - flags: those of open(2), such as `O_RDONLY`.
    /// - Throws: what open(2) refused.
    init(_ path: String, _ flags: Int32) throws(SystemError) {
        // The path lives for the call.
        descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw SystemError("cannot open", path) }
    }

    deinit {
        close(descriptor)
    }

    /// All bytes from here to the end, as long as they are not more than `limit`.
    func readAll(limit: Int) throws(SystemError) -> [UInt8] {
        var content: [UInt8] = []
        while true {
            let next = try read(upTo: 16_384)
            guard !next.isEmpty else { return content }
            content += next
            guard content.count <= limit else { throw SystemError("cannot read", path, number: EFBIG) }
        }
    }

    /// The next bytes, as many as there are and at most `count`; none at the end.
    private func read(upTo count: Int) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            // The kernel writes at most the buffer's own length into it.
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError("cannot read", path) }
            return Array(buffer[..<count])
        }
    }

    /// Writes all bytes, however many calls that takes.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The kernel reads the slice's own bytes, for the length of the call.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError("cannot write", path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns when what was written is on disk.
    func synchronize() throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw SystemError("cannot sync", path) }
    }

    /// Waits for the lock on this file, and holds it until the file is closed.
    func lock() throws(SystemError) {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SystemError("cannot lock", path) }
        }
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Gives this file the owner and group of `other`: what root writes for a service must belong to the service.
    func matchOwner(of other: borrowing OpenFile) throws(SystemError) {
        let (own, others) = (try status(), try other.status())
        guard own.st_uid != others.st_uid || own.st_gid != others.st_gid else { return }
        guard fchown(descriptor, others.st_uid, others.st_gid) == 0 else {
            throw SystemError("cannot give away", path)
        }
    }

    /// Overwrites all of it with zeros; returns when that is on disk.
    func erase() throws(SystemError) {
        let count = Int(try status().st_size)
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemError("cannot write", path) }
        try write([UInt8](repeating: 0, count: count))
        try synchronize()
    }

    /// Lets this descriptor lead to another file from now on, in one step for all threads.
    func redirect(to other: borrowing OpenFile) {
        dup2(other.descriptor, descriptor)
        // A step of its own, because what dup2 makes stays open on execution; this program starts no other one.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Whether anybody but the owner may read or change it.
    func isOpenToOthers() throws(SystemError) -> Bool { try status().st_mode & 0o077 != 0 }

    /// Whether it is as closed as a private key has to be: to everybody but its owner.
    ///
    /// The group may read a file of root, which is how keys are shared with a service.
    func isFitForSecrets() throws(SystemError) -> Bool {
        let status = try status()
        return status.st_mode & (status.st_uid == 0 ? 0o037 : 0o077) == 0
    }

    private func status() throws(SystemError) -> stat {
        var status = stat()
        // The kernel fills the local value.
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError("cannot examine", path) }
        return status
    }
}

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

/// A file that a command makes: it is not there yet, because nothing is overwritten.
final class NewFile {
    private let file: OpenFile

    /// - Throws: where there is a file of that name already.
    init(_ path: String) throws {
        file = try attempt(
            "The file could not be made",
            advice: "Name a file that is not there yet, in a folder that can be written to."
        ) { try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL) }
    }

    /// Appends all of it.
    func write(_ bytes: [UInt8]) throws {
        try attempt {
            try file.write(bytes)
        } orElse: { (error: SystemError) in
            CommandFailure.lostOutput(error.text)
        }
    }
}

extension CommandFailure {
    /// The output of a command was not written completely.
    static func lostOutput(_ reason: String) -> CommandFailure {
        CommandFailure("The output is not whole: \(reason).", advice: "Make room and run the command again.")
    }
}
