import Foundation
import Support
import Testing

/// The rules that every response of the service follows, whatever the request and the outcome.
struct AnswerRules {
    /// The response that the rules are applied to.
    let answer: RawClient.Answer
    let request: String
    let isToHead: Bool

    private var names: [String] { answer.fields.map { $0.prefix { $0 != ":" }.lowercased() } }

    /// All violated rules; empty for a correct response.
    var violations: [String] {
        (dateViolations + framingViolations + typeViolations + inwardViolations).map {
            "\(request): \(answer.status): \($0)"
        }
    }

    /// The date must have the form of RFC 9110 §5.6.7 and be near to now.
    private var dateViolations: [String] {
        let style = Date.VerbatimFormatStyle(
            format: """
                \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                \(second: .twoDigits) GMT
                """,
            locale: Locale(identifier: "en_US_POSIX"),
            timeZone: .gmt,
            calendar: Calendar(identifier: .gregorian)
        )
        let now = Date.now
        let around = (-120...5).map { style.format(now.addingTimeInterval(Double($0))) }
        guard names.count(where: { $0 == "date" }) == 1, let date = answer.field("date") else {
            return ["not one Date"]
        }
        return around.contains(date) ? [] : ["the Date is \(date)"]
    }

    private var framingViolations: [String] {
        let length = answer.field("content-length")
        let mayHaveContent = answer.status != 204 && answer.status != 304
        guard !names.contains("transfer-encoding") else { return ["the body has a transfer coding"] }
        guard mayHaveContent else { return length == nil ? [] : ["no content, and a length"] }
        guard names.count(where: { $0 == "content-length" }) == 1, let length, let count = Int(length),
            String(count) == length
        else { return ["not one Content-Length"] }
        if isToHead { return answer.body.isEmpty ? [] : ["a body to HEAD"] }
        return answer.body.utf8.count == count ? [] : ["the length is not the body's"]
    }

    /// A charset belongs to texts, and to nothing else.
    private var typeViolations: [String] {
        var violations = answer.field("x-content-type-options") == "nosniff" ? [] : ["no nosniff"]
        let hasContent = answer.field("content-length").map { $0 != "0" } ?? false
        switch answer.field("content-type") {
        case nil: if hasContent { violations.append("no Content-Type") }
        case "application/json"?:
            if !isToHead, (try? JSONSerialization.jsonObject(with: Data(answer.body.utf8))) == nil {
                violations.append("no JSON")
            }
        case let type?:
            let isText = type.hasPrefix("text/") && type.hasSuffix("; charset=utf-8")
            if !isText { violations.append("the type is \(type)") }
        }
        if answer.status >= 400, !isToHead, answer.field("content-type") != "application/json" {
            violations.append("an error that is no JSON")
        }
        return violations
    }

    /// A response must not reveal what runs inside, or in which version.
    private var inwardViolations: [String] {
        let named = names.filter { ["server", "x-powered-by", "via", "x-runtime"].contains($0) }
        let whole = (answer.fields + [answer.body]).joined(separator: "\n").lowercased()
        let revealed = [
            "0.1.0", "sqlite", "select ", ".swift", "openssl", TemporaryFolder.place.path.lowercased() + "/",
            "afterlink.db",
        ].filter(whole.contains)
        return (named + revealed).map { "it reveals \($0)" }
    }
}
