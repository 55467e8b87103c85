internal import Attribution
internal import Glibc
internal import JSON
internal import Server

/// The command `afterlink apple-postbacks list`.
enum ListApplePostbacksCommand {
    static let description = CommandDescription(
        name: "apple-postbacks list",
        summary: "Show the postbacks of Apple's frameworks",
        discussion: [
            "Prints postbacks of SKAdNetwork and AdAttributionKit, and attributions of Apple Ads, the newest first."
                + " Conversion values and countries are not signed."
        ],
        options: CommandOption.table([
            "app APP": "Only postbacks about this app, by id or name.",
            "network NETWORK": "Only postbacks to this ad network.",
            "verification valid|invalid|unverifiable": "Only postbacks whose signature has this state.",
            "environment production|development": "Only postbacks that are signed for this environment.",
            "from TIME": "Only postbacks received from this time on: 2027-01-31 or 2027-01-31T12:00:00Z.",
            "to TIME": "Only postbacks received before this time.",
            "limit N": "The maximum number of postbacks. Default: 100.",
        ]) + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink apple-postbacks list --verification invalid": "Show forged and damaged postbacks."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        var query = ApplePostbackQuery()
        query.network = arguments.value("network")
        (query.verification, query.environment) =
            (try arguments.word("verification"), try arguments.word("environment"))
        (query.from, query.to) = try arguments.range
        let count = try arguments.limit ?? ApplePostbackQuery.standardLimit
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        query.items = try AppChoice.named(arguments, in: directory).map { Set($0.appleItems) }
        var all = ApplePostbackPage(postbacks: [], next: nil)
        repeat {
            query.limit = min(count - all.postbacks.count, ApplePostbackQuery.limits.upperBound)
            let page = try await database.applePostbacks.applePostbacks(query)
            all.postbacks += page.postbacks
            (all.next, query.before) = (page.next, page.next)
        } while query.before != nil && all.postbacks.count < count
        let (page, apps) = (all, AppleApps(directory))
        invocation.show(
            table(page.postbacks, apps),
            json: JSONWriter.text { ApplePostbackBody.write(page, apps, to: &$0) }
        )
    }

    private static func table(_ postbacks: [StoredApplePostback], _ apps: AppleApps) -> String {
        postbacks.table([
            .left("TIME", \.receivedAt.iso8601),
            .left("NETWORK", \.postback.network),
            .left("APP") { apps.app($0.postback.item)?.settings.name ?? $0.postback.item },
            .left("SOURCE") { $0.postback.source ?? "–" },
            .right("WINDOW") { String($0.postback.sequence) },
            .left("VALUE") { ApplePostbackBody.value(of: $0.postback) },
            .left("EVENT") { apps.meaning(of: $0.postback, at: $0.receivedAt) ?? "–" },
            .left("SIGNATURE", \.verification.rawValue),
            .left("ENVIRONMENT", \.environment.rawValue),
            .left("COUNTED") { apps.counts($0) ? "yes" : "no" },
            .left("ID", \.postback.id),
        ])
    }
}

/// The commands `afterlink apple-postbacks verify` and `decode`.
enum ReadApplePostbackCommand {
    static let verification = CommandDescription(
        name: "apple-postbacks verify",
        summary: "Verify the signature of a postback in a file",
        discussion: [
            "Reads the JSON of one postback, verifies its signature with Apple's keys and prints the result. The exit status"
                + " is 1 unless the signature is valid. Nothing is stored."
        ],
        operands: [file],
        options: [.jsonObject],
        examples: ["afterlink apple-postbacks verify postback.json": "Verify that Apple signed a postback."]
    ) { try await run($0, database: nil) }

    static let decoding = CommandDescription(
        name: "apple-postbacks decode",
        summary: "Show the fields of a postback in a file, and what its conversion value means",
        discussion: [
            "Prints every field of one postback. Decodes the conversion value by the schema that is in force now for the app"
                + " with the postback's App Store number."
        ],
        operands: [file],
        options: [.jsonObject],
        settings: CommandDatabase.settings,
        examples: ["afterlink apple-postbacks decode postback.json": "Show the meaning of a postback."]
    ) { try await run($0, database: try CommandDatabase.open($0, for: .reading)) }

    private static let file = CommandDescription.Operand.required(
        "FILE",
        "The file with the postback's JSON."
    )

    private static func run(_ invocation: Invocation, database: CommandDatabase?) async throws {
        defer { database?.close() }
        let path = invocation.arguments.operands.first ?? ""
        let advice = "Give the path of a file with the JSON that an Apple device has sent."
        let bytes = try attempt("The file could not be read", advice: advice) {
            try OpenFile(path, O_RDONLY).readAll(limit: 1 << 16)
        }
        guard let object = (try? JSONValue(parsing: bytes))?.object else {
            throw CommandFailure.usage("\(path) is not a JSON object.").advising(advice)
        }
        let signed: SignedApplePostback
        do throws(FieldProblem) {
            signed = try ApplePostbackJSON.signed(object)
        } catch {
            throw CommandFailure.because("The postback is malformed: \(error.message)").advising(advice)
        }
        let apps = AppleApps(try database?.directory() ?? Directory(apps: [], keys: []))
        let json = JSONWriter.object(isPretty: true) {
            ApplePostbackBody.write(signed, apps, at: WallClock.system.now(), to: &$0)
        }
        invocation.show(database == nil ? sentence(signed) : json.text, json: json.text)
        if database == nil, signed.verification != .valid { throw ExitCode.failed }
    }

    private static func sentence(_ signed: SignedApplePostback) -> String {
        let environment = "signed for \(signed.environment.rawValue)"
        return switch signed.verification {
        case .valid: "valid: the signature is Apple's, \(environment)"
        case .invalid: "invalid: the signature does not match the signed fields"
        case .unverifiable: "unverifiable: this program has no key for the signature"
        }
    }
}
