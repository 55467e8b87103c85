internal import Attribution
internal import HTTPServer
internal import Threads

/// How a command ended, as scripts see it.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// The command failed.
    case failed = 1
    /// The command line was not understood.
    case usage = 2
    /// A setting has a value that is not allowed (`EX_CONFIG` of sysexits.h).
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

    /// A command that was understood and could not be done.
    package init(_ explanation: String, advice: String) {
        self.init(.failed, explanation, advice: advice)
    }

    /// The failure in words for any error that reached a command's end.
    package init(describing error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as StoreError: self.init(error)
        case let error as LinkStoreError: self.init(error)
        case let error as StartError: self.init(error)
        case let error as ThreadStartError: self.init(StartError(error))
        case let problems as FieldProblems:
            self.init(
                problems.all.map(\.message).joined(separator: "\n"),
                advice: "Nothing was done. Correct it and run the command again."
            )
        default: self.init("\(error)", advice: "This is a defect; please report it.")
        }
    }

    /// An option whose value is not allowed; the sentence begins with "must".
    static func wrongValue(_ option: String, _ value: String, _ sentence: String) -> CommandFailure {
        CommandFailure(
            .usage,
            "--\(option) \"\(value)\" \(sentence).",
            advice: "Correct it and run the command again; this time nothing was done."
        )
    }

    /// The failure as a line in a list, which follows a name and ends without a full stop.
    package var finding: (text: String, advice: String) {
        (Self.clause(explanation), Self.clause(advice))
    }

    private static func clause(_ sentence: String) -> String {
        var clause = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        // A word in capitals alone, such as TLS, stays as it is.
        guard let first = clause.first, first.isUppercase, clause.dropFirst().first?.isLowercase == true
        else {
            return clause
        }
        clause.replaceSubrange(...clause.startIndex, with: first.lowercased())
        return clause
    }

    /// As it is printed to standard error.
    package var text: String {
        "afterlink: \(explanation)\n\(advice)\n"
    }
}

/// Runs `body` and explains an error of one kind that it throws; errors of other kinds pass through.
func attempt<Failure: Error, Result: ~Copyable>(
    _ body: () throws -> Result,
    orElse explanation: (Failure) -> CommandFailure
) throws -> Result {
    do {
        return try body()
    } catch let error as Failure {
        throw explanation(error)
    }
}
