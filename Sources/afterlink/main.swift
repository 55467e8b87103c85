internal import Glibc
internal import Synchronization

let words = Array(CommandLine.arguments.dropFirst())
let environment = Environment.settings()
let code = MainThreadExecutor.run { [words, environment] in
    await Program.standard.run(words, environment: environment)
}
if code == .done, Console.hasLostOutput.load(ordering: .relaxed) {
    let failure = CommandFailure(
        "The output could not be written, but what was asked for was done.",
        advice: "If keys were made, nobody has seen them: look with `afterlink keys list` and revoke them."
    )
    Console.printError(failure.text)
    exit(failure.exitCode.rawValue)
}
exit(code.rawValue)
