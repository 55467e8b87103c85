internal import Glibc
internal import Synchronization

Console.holdStandardStreams()
let words = Environment.arguments()
let environment = Environment.settings()
let code = MainThreadExecutor.run { [words, environment] in
    await Program.standard.run(words, environment: environment)
}
guard Console.hasLostOutput.load(ordering: .relaxed) else { exit(code.rawValue) }
let hasFailed = code != .success
let failure = CommandFailure.because(
    "The command has \(hasFailed ? "failed, and" : "done its work, but") its output could not be written."
).advising(
    hasFailed
        ? "Open standard output, or make room, and run the command again."
        : "Open standard output, or make room, and see the output of the list commands."
)
Console.printError(failure.text)
exit(hasFailed ? code.rawValue : failure.exitCode.rawValue)
