internal import Attribution
internal import Glibc
internal import HTTPServer

extension CommandFailure {
    /// Explains an error of the store.
    init(_ error: StoreError) {
        let advice =
            switch error.code {
            case .overloaded, .timedOut, .locked: "Try again in a moment."
            case .full: "Make room on the disk and try again."
            case .readOnly:
                "The file and its folder must belong to the user that Afterlink runs as, on a file system that can be"
                    + " written to."
            case .inputOutput: "Check the disk; the system's log may say more."
            case .corrupted:
                "Put the database back from a backup, or name another one with --database; nothing was changed."
            case .incompatible:
                "Give another path with --database; a database of a newer Afterlink needs that version or a later one."
            case .unsupported:
                "Export its links with the version that made it (`afterlink links export`), start with a new database at"
                    + " another path (--database), and import them there; nothing was changed."
            case .resources: Self.resourcesAdvice
            case .stopping: "Try again when the service has started."
            case .conflict, .notFound: "Run the list commands to see what there is."
            case .defect: "This is a defect; please report it."
            }
        self.init(
            error.code == .unsupported ? .configuration : .failed,
            "The database operation failed: \(error.explanation).",
            advice: advice
        )
    }

    /// Explains why a database could not be opened; the store's explanation names the file.
    init(opening error: StoreError) {
        guard error.code == .notFound else {
            self.init(error)
            return
        }
        self.init(
            "The database cannot be opened: \(error.explanation).",
            advice: "Name it with --database or --data-directory; `afterlink init` makes a new one."
        )
    }
}

extension CommandFailure {
    private static let resourcesAdvice =
        "Raise the limits of the user that Afterlink runs as (ulimit -a shows them)."

    /// Explains why a server could not start.
    init(_ error: StartError) {
        let advice =
            switch error.cause {
            case .listening: Self.advice(listening: error.systemError)
            case .resources: Self.resourcesAdvice
            case .handler, .state: "This is a defect; please report it."
            }
        self.init(error.message, advice: advice)
    }

    /// Returns what to do about an address that cannot be listened on, by the system's error number.
    private static func advice(listening number: Int32?) -> String {
        switch number {
        case EADDRINUSE:
            "Another process has the address (`ss -ltnp` shows which): stop it, or take another address with"
                + " --listen or --metrics-listen."
        case EACCES, EPERM:
            "Ports below 1024 need a right of their own: take a higher one with --listen, or give the service"
                + " CAP_NET_BIND_SERVICE (in a systemd unit: AmbientCapabilities= and CapabilityBoundingSet= with it, and"
                + " PrivateUsers=no)."
        case EADDRNOTAVAIL:
            "This machine has no such address: `ip address` shows those it has; 0.0.0.0 and [::] stand for all"
                + " of them."
        case EAFNOSUPPORT:
            "This machine has no IPv6: take an IPv4 address with --listen, such as 0.0.0.0:8080."
        default: "Take another address with --listen or --metrics-listen."
        }
    }
}
