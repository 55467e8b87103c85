internal import Glibc
internal import Synchronization

Console.holdStandardStreams()
let words = Array(CommandLine.arguments.dropFirst())
let environment = Environment.settings()
let code = MainThreadExecutor.run { [words, environment] in
    await Program.standard.run(words, environment: environment)
}
if code == .success, Console.hasLostOutput.load(ordering: .relaxed) {
    let failure = CommandFailure.because("The output could not be written, but what was asked for was done.")
        .advising(
            "Standard output is closed, full, or not read: run the list commands to see what there is now."
        )
    Console.printError(failure.text)
    exit(failure.exitCode.rawValue)
}
exit(code.rawValue)
