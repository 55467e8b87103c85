internal import Attribution

/// Finds a command, runs it, prints its failure, and returns its exit code.
package struct Program: Sendable {
    package let commands: [CommandDescription]

    package func run(_ words: [String], environment: [String: String]) async -> ExitCode {
        do {
            try await dispatch(words, environment: environment)
            return .success
        } catch let code as ExitCode {
            return code
        } catch {
            let failure = CommandFailure(describing: error)
            Console.printError(failure.text)
            return failure.exitCode
        }
    }

    private func dispatch(_ words: [String], environment: [String: String]) async throws {
        guard let first = words.first else {
            // A script that lost its arguments must get a failure.
            Console.printError(HelpText.overview(of: commands) + "\n")
            throw ExitCode.usage
        }
        switch first {
        case "--help", "-h": return Console.print(HelpText.overview(of: commands))
        case "--version": return Console.print("afterlink \(ProgramVersion.text)")
        default: break
        }
        let (command, rest) = try find(words)
        guard let command else { return Console.print(try help(on: [first])) }
        let arguments = try Arguments(Array(rest), of: command)
        guard !arguments.has("help") else { return Console.print(HelpText.command(command)) }
        try await command.run(Invocation(command: command, arguments: arguments, environment: environment))
    }

    /// Returns the command at the start of the words, and the words after it; no command for `apps --help`.
    private func find(_ words: [String]) throws -> (CommandDescription?, ArraySlice<String>) {
        let one = words[0]
        if let command = commands.first(where: { $0.name == one }) { return (command, words.dropFirst()) }
        let group = commands.filter { $0.firstWord == one }
        guard !group.isEmpty else { throw unknownCommand(one) }
        guard let second = words.dropFirst().first else {
            throw CommandFailure.usage("`afterlink \(one)` needs a second word.")
                .advising(HelpText.group(one, of: group))
        }
        if second == "--help" || second == "-h" { return (nil, []) }
        guard let command = group.first(where: { $0.lastWord == second }) else {
            let near = Suggestion.nearest(to: second, among: group.map(\.lastWord))
            throw CommandFailure.usage("There is no command `afterlink \(one) \(second)`.")
                .advising(
                    near.map { "Did you mean `afterlink \(one) \($0)`?" } ?? HelpText.group(one, of: group)
                )
        }
        return (command, words.dropFirst(2))
    }

    /// Returns the help on a command or a group of commands; without words, the list of all commands.
    package func help(on words: [String]) throws -> String {
        let name = words.joined(separator: " ")
        if name.isEmpty { return HelpText.overview(of: commands) }
        if let command = commands.first(where: { $0.name == name }) { return HelpText.command(command) }
        let group = commands.filter { $0.firstWord == name }
        if !group.isEmpty { return HelpText.group(name, of: group) }
        throw unknownCommand(name)
    }

    private func unknownCommand(_ name: String) -> CommandFailure {
        let near = Suggestion.nearest(to: name, among: commands.flatMap { [$0.name, $0.firstWord] })
        return CommandFailure.usage("There is no command `afterlink \(name)`.")
            .advising(
                near.map { "Did you mean `afterlink \($0)`?" } ?? "`afterlink help` lists the commands."
            )
    }
}

extension Program {
    /// The released program.
    ///
    /// A new command is a file in a folder of `Commands`, and a line here.
    package static let standard = Program(commands: [
        DemoCommand.description,
        SimulateCommand.description,
        ServeCommand.description,
        DashboardCommand.description,
        ListSessionsCommand.description, EndSessionsCommand.description,
        AuditCommand.description,
        ListApplePostbacksCommand.description, ReadApplePostbackCommand.verification,
        ReadApplePostbackCommand.decoding,
        InitializeCommand.description,
        CreateAppCommand.description,
        ListAppsCommand.description,
        ChangeAppCommand.description,
        CreateLinkCommand.description,
        ListLinksCommand.description,
        ShowLinkCommand.description,
        DrawQRCodeCommand.description,
        ChangeLinkCommand.description,
        ArchiveLinkCommand.description,
        RestoreLinkCommand.description,
        DeleteLinkCommand.description,
        ImportLinksCommand.description,
        ExportLinksCommand.description,
        CreateKeyCommand.description,
        ListKeysCommand.description,
        RevokeKeyCommand.description,
        RotateServerKeyCommand.description,
        ListServerKeysCommand.description,
        CreatePostbackCommand.description,
        ListPostbacksCommand.description,
        ListDeliveriesCommand.description,
        TestPostbackCommand.description,
        ReplayPostbacksCommand.description,
        RotatePostbackCommand.description,
        SwitchPostbackCommand.enabling,
        SwitchPostbackCommand.disabling,
        ListenCommand.description,
        ExportTableCommand.description,
        ShowStatisticsCommand.description,
        ListChecksCommand.description,
        ExplainCheckCommand.description,
        ShowCollisionsCommand.description,
        RunBacktestCommand.description,
        ShowModelCommand.description,
        ResetModelCommand.description,
        ShowHeldDataCommand.description,
        EraseCommand.description,
        BackUpCommand.description,
        RestoreCommand.description,
        VerifyCommand.description,
        DoctorCommand.description,
        CheckDomainCommand.description,
        MigrateCommand.description,
        CheckHealthCommand.description,
        ListSettingsCommand.description,
        ShowHelpCommand.description,
        ShowVersionCommand.description,
    ])
}

/// The version of this program.
enum ProgramVersion {
    /// The version by semver.org; `-dev` between releases.
    static let text = "0.1.0-dev"
}
