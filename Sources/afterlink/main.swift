internal import Glibc
internal import Synchronization

Console.holdStandardStreams()
let words = Environment.arguments()
let environment = Environment.settings()
let code = MainThreadExecutor.run { [words, environment] in
    await Program.standard.run(words, environment: environment)
}
if code == .success, Console.hasLostOutput.load(ordering: .relaxed) {
    let failure = CommandFailure.because(
        "The command has done its work, but its output could not be written."
    ).advising("Open standard output, or make room, and see the output of the list commands.")
    Console.printError(failure.text)
    exit(failure.exitCode.rawValue)
}
exit(code.rawValue)
