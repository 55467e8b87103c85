/// How a command ended, as scripts see it.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// What was asked could not be done.
    case failed = 1
    /// The command line was not understood.
    case usage = 2
    /// A setting has a value that is not allowed (`EX_CONFIG` of sysexits.h).
    case configuration = 78
}

/// Why a command did not do what it was asked, in words for the person who asked.
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

    /// An option whose value is not allowed; the sentence begins with "must".
    static func wrongValue(_ option: String, _ value: String, _ sentence: String) -> CommandFailure {
        CommandFailure(
            .usage,
            "--\(option) \"\(value)\" \(sentence).",
            advice: "Correct it and run the command again; this time nothing was done."
        )
    }

    /// As one finding in a list of them, whose lines go on from a name and end without a full stop.
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
