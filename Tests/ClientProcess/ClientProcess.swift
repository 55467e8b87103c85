import AfterlinkClient
import AfterlinkCore
import Foundation
import Synchronization

/// An app with the library, as a process that tests can kill: `ClientProcess server=URL key=KEY folder=PATH …`.
///
/// It prints a line for each result. With `die=N`, the process kills itself at its Nth step. Steps are the
/// steps on disk, and the start and the end of each request.
@main
enum ClientProcess {
    static func main() {
        // A write beyond the limit of a file's size must fail as on a full disk, and must not end the process.
        signal(SIGXFSZ, SIG_IGN)
        let arguments = Arguments(CommandLine.arguments.dropFirst())
        // The main thread stays blocked, as in a busy app. The library must not need it.
        Task.detached {
            await run(arguments)
            exit(0)
        }
        while true { sleep(1000) }
    }

    private static func run(_ arguments: Arguments) async {
        let afterlink = Afterlink(configuration(arguments))
        if let link = arguments["opened"].flatMap(URL.init(string:)) { await afterlink.opened(link) }
        if arguments["optout"] != nil { await afterlink.optOut() }
        if arguments["optin"] != nil { await afterlink.optIn() }
        for name in arguments["events"]?.split(separator: ",") ?? [] {
            var event = Event(String(name), id: "id-\(name)")
            if name == "large" { event.properties["text"] = .string(String(repeating: "a", count: 60_000)) }
            if name == "infinite" { event.properties["number"] = .number(.infinity) }
            await afterlink.track(event)
        }
        await interrupt(afterlink, arguments)
        if let seconds = arguments.number("optoutafter") {
            Task {
                try? await SystemClock().sleep(seconds: seconds)
                await afterlink.optOut()
            }
        }
        if arguments["first"] != "no" {
            let start = ContinuousClock.now
            let answer = await afterlink.firstLaunch(within: .seconds(arguments.number("within") ?? 3))
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            switch answer {
            case .match(let link):
                Output.write("match \(link.url) \(link.campaign ?? "-") \(link.isGuaranteed)")
            case .campaign(let key): Output.write("campaign \(key)")
            case .none: Output.write("none")
            case .pending: Output.write("pending")
            case .settled: Output.write("settled")
            }
            Output.write("seconds \(seconds)")
        }
        if let text = arguments["pasted"] { Output.write("pasted \(await afterlink.pasted(text))") }
        if arguments["offer"] != nil {
            Output.write("offer \(await afterlink.shouldOfferPaste(isLinkProbable: true))")
        }
        if arguments["flush"] != nil { Output.write("flushed \(await afterlink.flush())") }
        if arguments["forget"] != nil { Output.write("forgotten \(await afterlink.forget())") }
        if arguments["links"] != nil || arguments["late"] != nil {
            await printLinks(of: afterlink, arguments)
        }
        Output.write("steps \(Steps.count.load(ordering: .relaxed))")
    }

    /// Opts out (`then=optout`) or asks to be forgotten (`then=forget`) while a request is under way.
    ///
    /// The test creates the file `started` when the request has arrived, and `ended` when its connection has ended.
    private static func interrupt(_ afterlink: Afterlink, _ arguments: Arguments) async {
        guard let started = arguments["started"], let ended = arguments["ended"] else { return }
        let request = Task {
            _ = arguments["events"] == nil ? await afterlink.firstLaunch() == .none : await afterlink.flush()
        }
        Output.write("started \(await exists(started))")
        if arguments["then"] == "forget" {
            Output.write("forgotten \(await afterlink.forget())")
        } else {
            await afterlink.optOut()
        }
        Output.write("ended \(await exists(ended))")
        await request.value
    }

    /// Waits at most eight seconds for a file.
    private static func exists(_ path: String) async -> Bool {
        for _ in 0..<800 where !FileManager.default.fileExists(atPath: path) {
            try? await SystemClock().sleep(seconds: 0.01)
        }
        return FileManager.default.fileExists(atPath: path)
    }

    /// Prints the given number of links, or fewer if the time passes before they come.
    private static func printLinks(of afterlink: Afterlink, _ arguments: Arguments) async {
        await withTaskGroup { group in
            group.addTask {
                for await link in afterlink.links.prefix(Int(arguments.number("links") ?? 1)) {
                    Output.write("link \(link.url) \(link.origin)")
                }
            }
            group.addTask { try? await SystemClock().sleep(seconds: arguments.number("late") ?? 60) }
            await group.next()
            group.cancelAll()
        }
    }

    private static func configuration(_ arguments: Arguments) -> Configuration {
        var options = Options()
        options.folder = URL(fileURLWithPath: arguments["folder"] ?? "")
        options.isUpdate = arguments["update"] != nil
        if arguments["log"] != nil { options.log = { Output.write($0) } }
        var signals = Signals()
        (signals.model, signals.osVersion, signals.scale) = ("iPhone", "17.2", 3)
        signals.timezone = arguments["timezone"] ?? "Europe/Istanbul"
        (signals.language, signals.languages, signals.localizations) = ("tr", ["tr-TR"], ["en", "tr"])
        signals.setScreen(width: 390, height: 844)
        let steps = Steps(death: arguments.number("die").map { Int($0) })
        var configuration = Configuration(
            server: URL(string: arguments["server"] ?? "") ?? URL(fileURLWithPath: "/"),
            appKey: arguments["key"] ?? "",
            options: options,
            transport: SteppedTransport(steps: steps),
            signals: { [signals] in signals }
        )
        configuration.clock = ShiftedClock(seconds: arguments.number("clock") ?? 0)
        configuration.willTakeStep = { _ in steps.take() }
        return configuration
    }
}

/// The arguments of the form `name=value`.
struct Arguments: Sendable {
    private let values: [String: String]

    init(_ arguments: some Sequence<String>) {
        values = arguments.reduce(into: [:]) { values, argument in
            let parts = argument.split(separator: "=", maxSplits: 1)
            values[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
    }

    subscript(name: String) -> String? { values[name] }

    func number(_ name: String) -> Double? { values[name].flatMap(Double.init) }
}

/// Writes lines without a buffer, so that a line that was written stays after a kill.
enum Output {
    static func write(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// Counts steps, and ends the process at one of them.
struct Steps: Sendable {
    static let count = Atomic<Int>(0)
    let death: Int?

    func take() {
        let number = Self.count.add(1, ordering: .relaxed).newValue
        if number == death { kill(getpid(), SIGKILL) }
    }
}

struct SteppedTransport: Transport {
    let steps: Steps

    func send(_ request: ClientRequest) async throws -> ClientResponse {
        steps.take()
        let response = try await URLSessionTransport().send(request)
        steps.take()
        return response
    }
}

/// A clock that is wrong by a constant.
struct ShiftedClock: ClientClock {
    let seconds: Double

    var now: Date { Date().addingTimeInterval(seconds) }

    func sleep(seconds: Double) async throws { try await SystemClock().sleep(seconds: seconds) }
}
