internal import Server

/// An answer that the demo got, and what it should have been.
struct DemoScene {
    private let answer: ClientResponse
    private let body: JSONValue?

    init(_ answer: ClientResponse) {
        self.answer = answer
        body = try? JSONValue(parsing: Array(answer.body.utf8))
    }

    /// The status and the body, or one member of it, laid out for reading.
    func shown(_ member: String?) -> String {
        let part = member.flatMap { body?.object?[$0] } ?? body
        let text = part.map(JSONLayout.text) ?? answer.body
        return "\n< \(answer.statusText)\n" + JSONLayout.prefixed(text, by: "< ")
    }

    func expect(status: Int) throws {
        guard answer.status == status else {
            throw Self.failure("the answer was \(answer.status), not \(status)")
        }
    }

    func expect(_ name: String, _ expected: String) throws {
        try check(name, "\"\(expected)\"") { $0 == expected }
    }

    func expect(_ name: String, beginsWith expected: String) throws {
        try check(name, "something that begins with \(expected)") { $0.hasPrefix(expected) }
    }

    func expect(_ name: String, contains expected: String) throws {
        try check(name, "something with \(expected) in it") { $0.contains(expected) }
    }

    func expect(total name: String, _ expected: Int64) throws {
        let count = body?.object?["totals"]?.object?[name]?.int64
        guard count == expected else {
            throw Self.failure("\(name) should have been counted as \(expected), not as \(count ?? 0)")
        }
    }

    private func check(
        _ name: String,
        _ description: String,
        _ isRight: (String) -> Bool
    ) throws {
        let value = body?.object?[name]?.string
        guard let value, isRight(value) else {
            throw Self.failure(
                "\(name) should have been \(description), not \(value.map { "\"\($0)\"" } ?? "missing")"
            )
        }
    }

    static func failure(_ what: String) -> CommandFailure {
        CommandFailure(
            "The demo went wrong: \(what).",
            advice: "This is a defect; please report it with the output."
        )
    }
}
