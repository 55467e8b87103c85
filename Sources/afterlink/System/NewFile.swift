internal import Glibc

/// A file that a command makes: it is not there yet, because nothing is overwritten.
final class NewFile {
    private let file: OpenFile

    /// - Throws: where there is a file of that name already.
    init(_ path: String) throws {
        file = try attempt {
            try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL)
        } orElse: { (error: SystemError) in
            CommandFailure(
                "The file could not be made: \(error.text).",
                advice: "Name a file that is not there yet, in a folder that can be written to."
            )
        }
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
