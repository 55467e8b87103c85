import Attribution
import Testing
import afterlink

@Suite("Command line")
struct CommandLineTests {
    private func parse(_ words: [String], for name: String = "keys create") throws -> Arguments {
        let command = try #require(Program.standard.commands.first { $0.name == name })
        return try Arguments(words, of: command)
    }

    private func failure(_ words: [String], for name: String = "keys create") throws -> CommandFailure {
        try #require(throws: CommandFailure.self) { try parse(words, for: name) }
    }

    @Test("arguments are values after a blank or an equals sign, switches and operands, in any order")
    func forms() throws {
        let arguments = try parse(["--kind", "app", "--label=two words=one", "--json"])
        #expect(arguments.value("kind") == "app")
        #expect(arguments.value("label") == "two words=one")
        #expect(arguments.has("json"))
        #expect(try parse(["--json", "key_1"], for: "keys revoke").operands == ["key_1"])
        #expect(try parse(["--", "--json"], for: "keys revoke").operands == ["--json"])
        #expect(try parse(["--label", ""]).value("label") == "")
    }

    @Test("repeated values are kept in order")
    func repeated() throws {
        let arguments = try parse(["--destination", "b://", "--destination", "a://"], for: "apps set")
        #expect(arguments.values("destination") == ["b://", "a://"])
        #expect(arguments.values("allowed-origin") == nil)
    }

    @Test(
        "unknown options are refused, and similar options suggested",
        arguments: [
            (["--knid", "app"], "--kind"), (["--labels=x"], "--label"), (["--expire", "1d"], "--expires"),
            (["-json"], "--json"),
        ]
    )
    func suggests(words: [String], meant: String) throws {
        let failure = try failure(words)
        #expect(failure.exitCode == .usage)
        #expect(failure.advice == "Did you mean \(meant)?")
    }

    @Test(
        "missing, repeated and superfluous values and operands are refused",
        arguments: [
            (["--kind"], "--kind needs a value"), (["--json=yes"], "--json takes no value"),
            (["--kind", "app", "--kind", "app"], "--kind is given twice"),
            (["more"], "does not know what to do with \"more\""),
        ]
    )
    func refuses(words: [String], says: String) throws {
        let failure = try failure(words)
        #expect(failure.exitCode == .usage)
        #expect(failure.explanation.contains(says))
    }

    @Test("a missing operand is refused, except with --help")
    func missingOperand() throws {
        #expect(try failure([], for: "keys revoke").explanation.contains("KEY"))
        #expect(try parse(["--help"], for: "keys revoke").has("help"))
        #expect(try parse(["-h"], for: "keys revoke").has("help"))
    }

    @Test("the failure does not repeat the value of an unknown option")
    func unknownSecret() throws { #expect(try !failure(["--password=hunter2"]).text.contains("hunter2")) }

    @Test(
        "the distance of two words is the number of their differences",
        arguments: [
            ("serve", "serve", 0), ("srve", "serve", 1), ("sevre", "serve", 1), ("", "abc", 3),
            ("abc", "", 3),
        ]
    )
    func distances(from: String, to: String, distance: Int) {
        #expect(Suggestion.distance(from: from, to: to) == distance)
    }

    @Test("a similar word is suggested, a distant word is not")
    func noSuggestion() {
        #expect(Suggestion.nearest(to: "banana", among: ["serve", "stats"]) == nil)
        #expect(Suggestion.nearest(to: "stat", among: ["serve", "stats"]) == "stats")
        #expect(
            Suggestion.nearest(to: "attribution", among: ["attribution-window", "retention"])
                == "attribution-window"
        )
    }
}

@Suite("Help")
struct CommandLineHelpTests {
    @Test("every command has a usage, a description, options and an example")
    func everyCommand() throws {
        for command in Program.standard.commands {
            let text = HelpText.command(command)
            #expect(text.hasPrefix("Usage: afterlink \(command.name)"))
            #expect(!command.summary.hasSuffix("."))
            #expect(!command.discussion.isEmpty && !command.examples.isEmpty)
            for option in command.allOptions {
                #expect(text.contains("--\(option.name)"))
                #expect(option.help.hasSuffix("."), "\(command.name) --\(option.name)")
            }
        }
    }

    @Test("examples name the program and use existing options")
    func examples() throws {
        for command in Program.standard.commands {
            for example in command.examples {
                let words = example.key.split(separator: " ").map(String.init)
                #expect(words.contains("afterlink"))
                for word in words where word.hasPrefix("--") {
                    #expect(command.allOptions.contains { "--\($0.name)" == word }, "\(example.key)")
                }
            }
        }
    }

    @Test("lines fit a terminal, except for the calls of examples")
    func width() throws {
        let calls = Program.standard.commands.flatMap(\.examples).map { "  \($0.key)" }
        for command in Program.standard.commands {
            for line in HelpText.command(command).split(separator: "\n") where !calls.contains(String(line)) {
                // A long word, such as an address, cannot be broken.
                let words = line.split(separator: " ")
                #expect(line.count <= 80 || words.count == 1, "\(line)")
            }
        }
    }

    @Test("the help explains groups of commands, and the overview names every command")
    func groups() throws {
        let overview = try Program.standard.help(on: [])
        for command in Program.standard.commands { #expect(overview.contains("  \(command.name) ")) }
        #expect(try Program.standard.help(on: ["apps"]).contains("afterlink apps create"))
        #expect(
            try Program.standard.help(on: ["keys", "revoke"]).hasPrefix("Usage: afterlink keys revoke KEY")
        )
        #expect(throws: CommandFailure.self) { try Program.standard.help(on: ["nothing"]) }
    }
}

@Suite("Tables")
struct TableTests {
    @Test("a table aligns texts left and numbers right, without blanks after the last column")
    func layout() {
        var table = Table([("NAME", .left), ("CLICKS", .right), ("END", .left)])
        table.add(["a", "5", "x"])
        table.add(["longer", "12345678", ""])
        #expect(
            table.text == """
                NAME      CLICKS  END
                a              5  x
                longer  12345678
                """
        )
    }

    @Test("a table shows control characters, which could move the cursor, as question marks")
    func controls() {
        var table = Table([("NAME", .left)])
        table.add(["a\u{1B}[2Jb\nc"])
        #expect(table.text == "NAME\na?[2Jb?c")
    }
}
