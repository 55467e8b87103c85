internal import Attribution
internal import Glibc

extension AuditActor {
    /// The user who runs this command: the name in the system's table of users, or the number if there is no name.
    static var commandLine: AuditActor {
        let number = geteuid()
        // The entry is valid until the next call of this kind; the name is copied at once.
        guard let entry = unsafe getpwuid(number), let name = unsafe entry.pointee.pw_name else {
            return .command(user: "\(number)")
        }
        return .command(user: unsafe String(cString: name))
    }
}
