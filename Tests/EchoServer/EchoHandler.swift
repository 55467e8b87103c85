import HTTPServer

/// Responds to external test suites with the request's body, its field lines or its cookies.
final class EchoHandler: RequestHandler {
    private static let rootMethods = "GET, HEAD, POST, PUT, OPTIONS"
    private static let echoMethods = "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS"

    func respond(to request: Request) async -> Response {
        switch request.path {
        case "/": root(request)
        case "/echo": echo(request, Self.fieldLines)
        case "/cookie": echo(request, Self.cookies)
        case "/nested": await nested(levels: 100, request)
        case "*": options(Self.echoMethods)
        default: Response(.notFound, text: "There is nothing here.\n")
        }
    }

    /// Responds from the innermost of nested calls that may suspend, as a complex handler does.
    ///
    /// If the query is a number N, each response waits until N such requests have arrived.
    private func nested(levels: Int, _ request: Request) async -> Response {
        guard levels > 0 else {
            await Self.meeting.join(request.query.flatMap { Int($0) } ?? 1)
            return Response(.ok, text: "OK")
        }
        var response = await nested(levels: levels - 1, request)
        // This statement after the call prevents a tail call, which would need no memory.
        response.fields = []
        return response
    }

    /// The point at which requests of all event loops wait for each other.
    private static let meeting = Rendezvous()

    private func root(_ request: Request) -> Response {
        switch request.method {
        case .get, .head: Response(.ok, text: "OK")
        case .post, .put:
            Response(.ok, contentType: ContentType("application/octet-stream"), body: request.body)
        case .options: options(Self.rootMethods)
        case .delete, .patch, .trace, .query: notAllowed(Self.rootMethods)
        }
    }

    private func echo(_ request: Request, _ body: (Request) -> [UInt8]) -> Response {
        guard request.method != .options else { return options(Self.echoMethods) }
        // A response to TRACE would contain fields that a browser hides from scripts.
        guard request.method != .trace else { return notAllowed(Self.echoMethods) }
        return Response(.ok, contentType: .plainText, body: body(request))
    }

    private func notAllowed(_ methods: String) -> Response {
        Response(
            .methodNotAllowed,
            fields: [FieldLine(name: "Allow", value: methods)],
            text: "Only \(methods) are allowed here.\n"
        )
    }

    private func options(_ methods: String) -> Response {
        Response(.noContent, fields: [FieldLine(name: "Allow", value: methods)])
    }

    /// Returns the bytes of the field lines as received.
    private static func fieldLines(_ request: Request) -> [UInt8] {
        var text: [UInt8] = []
        request.forEachFieldLine { name, value in
            for index in name.indices { text.append(name[index]) }
            text += [UInt8(ascii: ":"), UInt8(ascii: " ")]
            for index in value.indices { text.append(value[index]) }
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// Returns a line `name=value` for each cookie (RFC 6265 §4.2.1).
    private static func cookies(_ request: Request) -> [UInt8] {
        var text = ""
        for field in request.fields("cookie") {
            for pair in field.split(separator: ";") {
                let trimmed = pair.drop { $0 == " " || $0 == "\t" }
                guard trimmed.contains("=") else { continue }
                text += trimmed + "\n"
            }
        }
        return Array(text.utf8)
    }
}
