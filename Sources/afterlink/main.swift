internal import Glibc

let words = Array(CommandLine.arguments.dropFirst())
let environment = Environment.settings()
let code = MainThreadExecutor.run { [words, environment] in
    await Program.standard.run(words, environment: environment)
}
exit(code.rawValue)
