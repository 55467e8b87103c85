internal import Attribution
internal import HTTPServer
internal import JSON
internal import Server

/// The command `afterlink postbacks listen`.
enum ListenCommand {
    static let description = CommandDescription(
        name: "postbacks listen",
        summary: "Receive postbacks, verify and print them",
        discussion: [
            "A receiver for a first try: it verifies each signature, prints the request, and answers 204, or 401 for a"
                + " signature that was not made with the secret. The service must run with --postback-allow"
                + " 127.0.0.1:9400.",
            "AFTERLINK_ENDPOINT_SECRET has the secret, unless --endpoint-secret-file names a file. Without both, nothing is"
                + " verified.",
        ],
        options: CommandOption.table([
            "listen ADDRESS": "The address to receive on. Default: 127.0.0.1:9400.",
            "endpoint-secret-file FILE": "File with the secret that `postbacks create` has printed.",
        ]) + [CommandOption("json", help: "Print one JSON object a line instead.")],
        examples: [
            "AFTERLINK_ENDPOINT_SECRET=whsec_… afterlink postbacks listen": "Print what an endpoint receives."
        ],
        run: run
    )

    private static let standardAddress = "127.0.0.1:9400"

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let address = try arguments.read("listen", "must be an address such as \(standardAddress)") {
            ListenAddress($0)
        }
        guard let standard = ListenAddress(standardAddress) else { return }
        let secret = try secret(invocation)
        let signals = StopSignals()
        let isJSON = arguments.has("json")
        let settings = HTTPServerConfiguration(listenAddress: address ?? standard, loopCount: 1)
        let server = try WebServer(settings) { _, _ in PostbackReceiver(secret, isJSON: isJSON) }
        try server.start()
        if secret == nil { Console.printError("Signatures are not verified: there is no secret.\n") }
        let url = "http://\(server.addressText)"
        let json = JSONWriter.text { $0.member("listening_on", url) }
        Console.printNotice(isJSON ? json : "listening on \(url)")
        while signals.waitForReopening() {}
        server.stop(within: .seconds(1))
    }

    private static func secret(_ invocation: Invocation) throws -> PostbackSecret? {
        // An empty variable is an unset one, as for settings.
        var text = invocation.environment["AFTERLINK_ENDPOINT_SECRET"].flatMap { $0.isEmpty ? nil : $0 }
        if let path = invocation.arguments.value("endpoint-secret-file") {
            text = try SecretFile(path: path).secret("secret file", of: "its") { error in
                CommandFailure.because("The secret file \(path) could not be read: \(error.text).")
                    .advising("Correct the path.")
            }
        }
        guard let text else { return nil }
        guard let secret = PostbackSecret(text.trimmed) else {
            throw CommandFailure.usage("The secret of the endpoint is not whsec_ and base64.")
                .advising("`afterlink postbacks create` and `rotate` print it.")
        }
        return secret
    }
}

/// Verifies and prints the requests of one event loop.
private final class PostbackReceiver: RequestHandler {
    private let secret: PostbackSecret?
    private let isJSON: Bool

    init(_ secret: PostbackSecret?, isJSON: Bool) { (self.secret, self.isJSON) = (secret, isJSON) }

    func respond(to request: Request) async -> Response {
        let (id, timestamp) = (request.field("webhook-id"), request.field("webhook-timestamp"))
        let problem = secret.flatMap { secret in
            PostbackMessage.problem(
                id: id,
                timestamp: timestamp,
                signatures: request.field("webhook-signature"),
                body: request.body,
                secret: secret,
                now: WallClock.system.now()
            )
        }
        // A line is printed before the answer, so that everything that was acknowledged was printed.
        Console.print(line(request, id ?? "", problem))
        return Response(problem == nil ? .noContent : .unauthorized)
    }

    private func line(_ request: Request, _ id: String, _ problem: String?) -> String {
        let verdict = problem ?? (secret == nil ? "unverified" : "verified")
        let body = String(decoding: request.body, as: UTF8.self)
        guard isJSON else { return "\(verdict) \(id)\n\(request.method.rawValue) \(request.path)\n\(body)\n" }
        return JSONWriter.object { json in
            json.member("verified", problem == nil && secret != nil)
            json.member("problem", problem)
            json.member("id", id)
            json.member("method", request.method.rawValue)
            json.member("path", request.path)
            json.member("body", body)
        }.text
    }
}
