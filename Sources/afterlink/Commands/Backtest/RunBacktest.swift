internal import Attribution
internal import Server

/// The command `afterlink backtest`.
enum RunBacktest {
    static let description = CommandDescription(
        name: "backtest",
        summary: "Play recorded clicks and launches again under another policy",
        discussion: [
            "Answers every launch of a trace twice: by the present policy and, where one of the options below is given,"
                + " by the one asked for. Both are played in the events' own time by the rules that the service itself"
                + " goes by, and printed beside each other: launches, matches, expected conversions with their spread,"
                + " which launches would gain or lose a match and, where the trace tells the truth, precision, what was"
                + " found, false attributions and calibration.",
            "A trace has a line of JSON for each click and each launch in the order of time; the documentation's"
                + " article on traces lists its members. Clicks and launches of the first days teach the model and are"
                + " not counted.",
        ],
        options: [
            CommandOption("trace", "FILE", help: "The trace; - for standard input."),
            CommandOption(
                "window",
                "SECONDS",
                help: "Attribution window of every click, 60 to 2592000, whatever its own was."
            ),
            CommandOption(
                "minimum-confidence",
                "P",
                help: "The probability that a match needs, 0 to 1. Default: 0.7."
            ),
            CommandOption(
                "rule",
                "newest|probability",
                help: "With newest, the newest click matches whatever its probability. Default: probability."
            ),
            CommandOption(
                "on-ambiguity",
                "noMatch|newest|campaignOnly",
                help:
                    "What is answered when a click led to the launch and none is likely enough. Default: noMatch."
            ),
            CommandOption(
                "warm-up-days",
                "N",
                help: "Days that teach and are not counted, 0 to 365. Default: 1."
            ),
            .json,
        ],
        examples: [
            CommandDescription.Example(
                call: "afterlink backtest --trace week.jsonl --window 3600 --minimum-confidence 0.8",
                purpose: "What an hour's window and a stricter policy would have changed."
            )
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let options = try BacktestOptions(invocation.arguments)
        var source = try TraceSource(options.trace)
        guard let first = try source.next() else {
            throw CommandFailure(
                "The trace \(options.trace) holds no event.",
                advice:
                    "Each click and each launch is a line of JSON; the documentation's article on traces has examples."
            )
        }
        var backtest = Backtest(options.present, asked: options.asked, began: first.at)
        var progress = BacktestProgress()
        backtest.play(first)
        while let event = try source.next() {
            backtest.play(event)
            progress.tell(backtest, share: source.share)
        }
        progress.finish()
        let outcome = BacktestOutcome(backtest, options, began: first.at)
        Console.print(invocation.arguments.has("json") ? outcome.json : outcome.text)
        for warning in outcome.warnings { Console.printError("\n\(warning)\n") }
        return .done
    }
}
