internal import Glibc

/// An open file, which is closed after its last use.
struct OpenFile: ~Copyable, Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens a file; only the owner can read a file that this call creates.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - flags: the flags of open(2), such as `O_RDONLY`.
    /// - Throws: the error of open(2).
    init(_ path: String, _ flags: Int32) throws(SystemError) {
        // The path is valid during the call.
        descriptor = unsafe open(path, flags | O_CLOEXEC, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw SystemError("cannot open", path) }
    }

    deinit { close(descriptor) }

    /// Returns all bytes from the current position to the end.
    ///
    /// - Throws: `EFBIG` for more than `limit` bytes, or another error of the system.
    func readAll(limit: Int) throws(SystemError) -> [UInt8] {
        var content: [UInt8] = []
        while true {
            let next = try read(upTo: 16_384)
            guard !next.isEmpty else { return content }
            content += next
            guard content.count <= limit else { throw SystemError("cannot read", path, number: EFBIG) }
        }
    }

    /// Returns the next bytes, `count` at most; none at the end.
    private func read(upTo count: Int) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            // The kernel writes at most `buffer.count` bytes.
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError("cannot read", path) }
            return Array(buffer[..<count])
        }
    }

    /// Writes all bytes, in as many calls as that takes.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        guard Console.write(bytes, to: descriptor) else { throw SystemError("cannot write", path) }
    }

    /// Brings the written bytes to disk.
    func synchronize() throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw SystemError("cannot sync", path) }
    }

    /// Waits for the lock on this file, and holds it until ``unlock()`` or the close of the file.
    func lock() throws(SystemError) {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SystemError("cannot lock", path) }
        }
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Gives this file the owner and group of `other`: a file that root writes for a service must belong to the service.
    func matchOwner(of other: borrowing OpenFile) throws(SystemError) {
        let (own, others) = (try status(), try other.status())
        guard own.st_uid != others.st_uid || own.st_gid != others.st_gid else { return }
        guard fchown(descriptor, others.st_uid, others.st_gid) == 0 else {
            throw SystemError("cannot give away", path)
        }
    }

    /// Overwrites the whole file with zeros, on disk too.
    func erase() throws(SystemError) {
        let count = Int(try status().st_size)
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemError("cannot write", path) }
        try write([UInt8](repeating: 0, count: count))
        try synchronize()
    }

    /// Makes this descriptor refer to another file, in one step for all threads.
    func redirect(to other: borrowing OpenFile) {
        dup2(other.descriptor, descriptor)
        // dup2 clears the close-on-exec flag. No child can inherit the descriptor meanwhile: this program starts no other
        // program.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Whether users other than the owner have any right to the file.
    func isOpenToOthers() throws(SystemError) -> Bool { try status().st_mode & 0o077 != 0 }

    /// Whether only the owner can read the file, or also a group with which the file is shared; see ``FileModes``.
    func isFitForSecrets() throws(SystemError) -> Bool { FileModes.isFitForSecrets(try status()) }

    private func status() throws(SystemError) -> stat {
        var status = stat()
        // The kernel fills the local value.
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError("cannot examine", path) }
        return status
    }
}

/// An error of the operating system.
struct SystemError: Error, Equatable {
    /// The failed action, as in "cannot open".
    let action: String
    /// The file or address of the call.
    let subject: String
    let number: Int32

    /// Creates the error of a system call, by default with the number of the last call's error.
    init(_ action: String, _ subject: String, number: Int32 = errno) {
        self.action = action
        self.subject = subject
        self.number = number
    }

    /// The exit status of a command that fails because of this error at a configured path.
    ///
    /// It is `configuration` for a wrong path or a missing permission, which no restart corrects.
    var exitCode: ExitCode {
        switch number {
        case ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG: .configuration
        default: .failed
        }
    }

    static let roomAdvice = "Make room on the disk and try again."

    /// What to do about the error, if this is the same for every path; nil for other errors.
    var remedy: String? { [ENOSPC, EDQUOT].contains(number) ? Self.roomAdvice : nil }

    /// The error as text, as in `cannot open /var/lib/x: Permission denied`.
    var text: String {
        // The text is copied before another call of strerror can change it.
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return "\(action) \(subject): \(reason)"
    }
}

/// A file that a command creates; the command never overwrites an existing file.
final class NewFile {
    private let file: OpenFile

    /// - Throws: if a file of that name exists, or if the file cannot be created.
    init(_ path: String) throws {
        file = try attempt(
            "The file could not be created",
            advice: "Name a file that does not exist yet, in a folder that can be written to."
        ) { try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL) }
    }

    /// Appends the bytes.
    func write(_ bytes: [UInt8]) throws {
        do { try file.write(bytes) } catch { throw CommandFailure.lostOutput(error.text) }
    }
}

extension CommandFailure {
    /// The failure of a command whose output could not be written completely.
    static func lostOutput(_ reason: String) -> CommandFailure {
        CommandFailure("The output is incomplete: \(reason).", advice: "Make room and run the command again.")
    }
}
