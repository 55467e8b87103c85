import HTTPServer
import JSON
import Server
import Testing

/// Compares every response in this module's tests with the description of the API.
///
/// A status, a member or a value that is not described fails the test that gets it.
enum DescribedAnswers {
    private static let check = SchemaCheck(api: .api)

    static func expect(_ answer: Answer, to method: HTTPServer.Method, _ path: String) {
        for violation in violations(answer, method, path) {
            Issue.record(
                "the API's description lacks this for \(method.rawValue) \(path): \(violation)"
            )
        }
    }

    static func violations(_ answer: Answer, _ method: HTTPServer.Method, _ path: String) -> [String] {
        // Unknown paths and wrong methods get the same responses under all paths.
        guard let call = Described.api.call(method == .head ? .get : method, path) else {
            return answer.status == 204 || answer.status == 304 ? [] : errorViolations(answer)
        }
        // HEAD returns 405 for a call that consumes a click; the description lists no 405 for these calls.
        guard answer.status != 405 else { return errorViolations(answer) }
        let described = call.operation["responses"]?["\(answer.status)"] ?? .null
        guard !described.isNull else { return ["the status \(answer.status)"] }
        let response = Described.api.resolved(described)
        var violations = fieldViolations(answer, response)
        guard !answer.body.isEmpty, method != .head else { return violations }
        let type = answer.field("content-type")?.prefix { $0 != ";" } ?? ""
        guard let content = response["content"].object?[String(type)] else {
            return violations + ["the type \(type) with the status \(answer.status)"]
        }
        guard type == "application/json" else { return violations }
        guard let value = try? JSONValue(parsing: answer.body) else { return violations + ["no JSON"] }
        violations += check.violations(value, content["schema"])
        return violations
    }

    private static func errorViolations(_ answer: Answer) -> [String] {
        guard answer.field("content-type") == "application/json",
            let value = try? JSONValue(parsing: answer.body)
        else { return [] }
        return check.violations(value, Described.api.schema("Error"))
    }

    private static func fieldViolations(_ answer: Answer, _ response: JSONValue) -> [String] {
        response["headers"].members.filter { member in
            Described.api.resolved(member.value)["required"].bool == true && answer.field(member.name) == nil
        }.map { "\(answer.status) without the field \($0.name)" }
    }
}
