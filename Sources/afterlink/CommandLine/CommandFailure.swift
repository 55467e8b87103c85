internal import Attribution
internal import Glibc
internal import HTTPServer
internal import Threads

/// The exit status of a command.
package enum ExitCode: Int32, Error {
    case success = 0
    /// The command failed.
    case failed = 1
    /// The command line was wrong.
    case usage = 2
    /// A setting, a key file or the database's version is wrong, which no restart changes (`EX_CONFIG` of sysexits.h).
    case configuration = 78
}

/// Why a command failed, and what to do about it.
package struct CommandFailure: Error, Equatable, Sendable {
    package let exitCode: ExitCode
    /// What happened: a sentence, or a sentence and a list.
    package let explanation: String
    /// What to do about it.
    package let advice: String

    package init(_ exitCode: ExitCode, _ explanation: String, advice: String) {
        self.exitCode = exitCode
        self.explanation = explanation
        self.advice = advice
    }

    /// Creates the failure of a command with a correct command line.
    package init(_ explanation: String, advice: String) { self.init(.failed, explanation, advice: advice) }

    /// The first half of a failure: ``advising(_:)`` adds what to do.
    struct Cause {
        fileprivate let exitCode: ExitCode
        fileprivate let explanation: String
        /// The advice on the system's error, if it is the same for every operation; nil if it depends on the failed
        /// operation.
        fileprivate var remedy: String?

        func advising(_ advice: String) -> CommandFailure {
            CommandFailure(exitCode, explanation, advice: remedy ?? advice)
        }
    }

    static func because(_ explanation: String) -> Cause { Cause(exitCode: .failed, explanation: explanation) }

    /// Creates the first half of a failure, whose cause is a system error at a path that a setting names.
    static func because(_ explanation: String, _ error: SystemError) -> Cause {
        let explanation = "\(explanation): \(error.text)."
        return Cause(exitCode: error.exitCode, explanation: explanation, remedy: error.remedy)
    }

    static func usage(_ explanation: String) -> Cause { Cause(exitCode: .usage, explanation: explanation) }

    static func configuration(_ explanation: String) -> Cause {
        Cause(exitCode: .configuration, explanation: explanation)
    }

    /// Explains any error that ended a command.
    package init(describing error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as StoreError: self.init(error)
        case let error as LinkStoreError: self.init(error)
        case let error as StartError: self.init(error)
        case let error as ThreadStartError: self.init(StartError(error))
        case let problems as FieldProblems:
            self.init(
                .usage,
                problems.all.map(\.message).joined(separator: "\n"),
                advice: "Nothing was done. Correct it and run the command again."
            )
        default: self.init("\(error)", advice: "This is a defect; please report it.")
        }
    }

    /// Joins failures into one that lists all explanations and each advice once, with the exit status of the first one;
    /// nil without failures.
    init?(joining failures: [CommandFailure]) {
        guard let first = failures.first else { return nil }
        var advice: [String] = []
        for failure in failures where !advice.contains(failure.advice) { advice.append(failure.advice) }
        self.init(
            first.exitCode,
            failures.map(\.explanation).joined(separator: "\n"),
            advice: advice.joined(separator: "\n")
        )
    }

    /// Returns the failure of an option whose value is not allowed; the sentence follows the value, as in "must be on".
    static func wrongValue(_ option: String, _ value: String, _ sentence: String) -> CommandFailure {
        usage("--\(option) \"\(value)\" \(sentence).")
            .advising("Nothing was done. Correct it and run the command again.")
    }

    /// The failure as a finding of `doctor` or `verify`: sentences that start with a small letter and end
    /// without a full stop.
    package var finding: (text: String, advice: String) { (Self.clause(explanation), Self.clause(advice)) }

    private static func clause(_ sentence: String) -> String {
        var clause = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        // A word in capitals, such as TLS, does not change.
        guard let first = clause.first, first.isUppercase, clause.dropFirst().first?.isLowercase == true
        else { return clause }
        clause.replaceSubrange(...clause.startIndex, with: first.lowercased())
        return clause
    }

    /// The text for standard error.
    package var text: String { "afterlink: \(explanation)\n\(advice)\n" }
}

/// Runs `body` and explains an error of one kind that it throws; errors of other kinds pass through.
func attempt<Failure: Error, Result: ~Copyable>(
    orElse explanation: (Failure) -> CommandFailure,
    _ body: () throws -> Result
) throws -> Result {
    do {
        return try body()
    } catch let error as Failure {
        throw explanation(error)
    }
}

extension CommandFailure {
    /// Explains an error of the store.
    init(_ error: StoreError) {
        let advice =
            switch error.code {
            case .overloaded, .timedOut, .locked, .underWay: "Try again in a moment."
            case .unreachable:
                "The database server must run and have the user and the database of --database; the password comes from"
                    + " PGPASSWORD, --database-password-file or ~/.pgpass."
            case .full: SystemError.roomAdvice
            case .readOnly:
                "Give the file and its folder to the user that Afterlink runs as, on a file system that can be written to; on"
                    + " PostgreSQL, name the primary server with --database."
            case .inputOutput: "Check the disk and the system's log."
            case .corrupted:
                "Nothing was changed. Restore a backup, or name another database with --database."
            case .incompatible:
                "Nothing was changed. For a database of a newer version, run that version, or name another database with --database."
            case .unsupported: "Nothing was changed. Give Afterlink a database of its own with --database."
            case .resources: Self.resourcesAdvice
            case .stopping: "Try again when the service has started."
            case .conflict, .notFound: "The list commands, such as `afterlink apps list`, show what exists."
            case .defect: "This is a defect; please report it."
            }
        self.init(
            [.incompatible, .unsupported].contains(error.code) ? .configuration : .failed,
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
            advice: "Name it with --database or --data-directory; `afterlink init` creates a new one."
        )
    }
}

extension CommandFailure {
    private static let resourcesAdvice =
        "Raise the limits of the user that Afterlink runs as (ulimit -a shows them)."

    /// Explains why a server could not start; `option` names the option of the server's address, nil if it is unknown.
    init(_ error: StartError, addressOf option: String? = nil) {
        let advice =
            switch error.cause {
            case .listening: Self.advice(listening: error.systemError, option)
            case .resources: Self.resourcesAdvice
            case .handler, .state: "This is a defect; please report it."
            }
        self.init(error.message, advice: advice)
    }

    /// Returns what to do about an address that the service cannot listen on, by the system's error number.
    private static func advice(listening number: Int32?, _ option: String?) -> String {
        let (named, any) = (option ?? "--listen", option ?? "--listen or --metrics-listen")
        return switch number {
        case EADDRINUSE:
            "Stop the process that has the address (`ss -ltnp` shows it), or give another \(any)."
        case EACCES, EPERM:
            "Give a port above 1023 with \(named), or give the service CAP_NET_BIND_SERVICE (in a systemd unit:"
                + " AmbientCapabilities= and CapabilityBoundingSet= with it, and PrivateUsers=no)."
        case EADDRNOTAVAIL:
            "Give an address of this machine: `ip address` shows them; 0.0.0.0 and [::] stand for all of them."
        case EAFNOSUPPORT:
            "Give an IPv4 address with \(named), such as 0.0.0.0:8080: this machine has no IPv6."
        default: "Give another address with \(any)."
        }
    }
}

/// Runs `body`; if it throws an error of the system, throws a failure with the explanation, a colon and the error.
func attempt<Result: ~Copyable>(
    _ explanation: String,
    _ exitCode: ExitCode = .failed,
    advice: String,
    _ body: () throws -> Result
) throws -> Result {
    do {
        return try body()
    } catch let error as SystemError {
        throw CommandFailure(exitCode, "\(explanation): \(error.text).", advice: error.remedy ?? advice)
    }
}

/// Words of a command line, quoted for pasting into a shell.
package enum ShellWord {
    /// Returns the text as one word of a POSIX shell, in single quotes unless a shell reads all of it literally.
    package static func quoted(_ text: String) -> String {
        guard text.isEmpty || !text.utf8.allSatisfy(isPlain) else { return text }
        return "'" + text.replacingASCII("'", with: #"'\''"#) + "'"
    }

    /// Returns a path as one word that no program takes for an option.
    package static func quoted(operand path: String) -> String {
        quoted(path.hasPrefix("-") ? "./" + path : path)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+=:,@%".utf8.contains(byte)
        }
    }
}
