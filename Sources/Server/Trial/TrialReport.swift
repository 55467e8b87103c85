internal import Attribution
public import JSON

/// A trial's result with the requests that were sent.
public struct TrialReport: Sendable {
    public let result: TrialResult
    public let click: ClientRequest
    /// The launch's request; nil if the click was refused, so that no launch was sent.
    public let launch: ClientRequest?

    public func write(to json: inout JSONWriter) {
        let (trial, reading) = (result.trial, result.reading)
        json.member("profile", trial.profile.name)
        json.member("device", trial.device.name)
        json.member("sdk", trial.release.name)
        json.member("form", trial.release.form.rawValue)
        json.member("as", trial.poster.rawValue)
        json.member("result", result.word)
        json.member("matched", result.isMatched)
        json.member("expected", result.isMatchExpected)
        json.member("as_expected", result.isAsExpected)
        json.member("robot", reading.isRobot)
        json.object("canonical") { json in for (name, value) in reading.values { json.member(name, value) } }
        json.objects("found_by", reading.made) { json, made in
            json.member("form", made.input.form.rawValue)
            json.member("text", made.input.text)
            json.member("weight", made.weight)
            json.member("fingerprint", made.input.fingerprint.hex)
        }
        json.object("launch", writeLaunch)
        json.object("click_answer") { Self.write(result.click, to: &$0) }
        if let answer = result.launch { json.object("launch_answer") { Self.write(answer, to: &$0) } }
        json.member("explanation", result.explanation)
    }

    private func writeLaunch(to json: inout JSONWriter) {
        let launch = result.reading.launch
        json.member("text", launch.text)
        json.member("fingerprint", launch.fingerprint.hex)
        json.member("token", result.token == .brought)
        json.objects("components", result.reading.components) { json, component in
            json.member("component", component.component.rawValue)
            json.member("hashed", component.isHashed)
            json.member("launch", component.launch)
            json.member("fits", component.fits)
            json.objects("click", component.click) { json, spelling in
                json.member("text", spelling.text)
                json.member("weight", spelling.weight)
            }
        }
    }

    /// Writes a response; its body becomes a part of the document if it is a JSON object, and a text otherwise.
    private static func write(_ response: ClientResponse, to json: inout JSONWriter) {
        json.member("status", response.status)
        if response.json != nil {
            json.member("body") { $0.raw(response.body.utf8) }
        } else {
            json.member("body", response.body)
        }
    }
}

extension TrialResult {
    /// The explanation of the trial's result, in sentences.
    public var explanation: [String] {
        guard click.isRecorded else { return clickRefused + unexpected }
        var sentences = [outcome]
        if isMatched {
            sentences += found
        } else if launch?.isNoMatch == true || isMatchedByAnother {
            sentences += whyNot
        }
        if let fingerprint = click["fingerprint"], let first = reading.made.first,
            fingerprint != first.input.fingerprint.hex, !click.isRepeated
        {
            sentences.append(
                "The server's first fingerprint differs from this program's: the server has another version or other"
                    + " tables, or knows the languages of the app."
            )
        }
        if click.isRepeated {
            sentences.append(
                "The server treated the click as a repetition of one that was posted shortly before, and counts only the"
                    + " first. Each click has its own link unless you choose one."
            )
        }
        if token == .missing {
            sentences.append("The server made no token for the click, so the launch brought none.")
        }
        return sentences + unexpected
    }

    private var outcome: String {
        guard let launch else { return "The launch was not sent." }
        if isMatched { return "Matched: the launch got this click, and \(launch["url"] ?? "no link")." }
        if launch.isMatch {
            return "Matched, but not this click: an older one has the same fingerprint and was still open"
                + " (\(launch["url"] ?? "no link"))."
        }
        if launch.isNoMatch { return "No match." }
        return "The launch was refused with \(launch.statusText): \(launch.message ?? launch.body)"
    }

    private var clickRefused: [String] {
        let refusal = "The click was refused with \(click.statusText): \(click.message ?? click.body)"
        guard reading.made.isEmpty, click.status == 400 else {
            guard click["field"] == "deeplink_url" else { return [refusal] }
            let advice = "Choose a link that the app may open with --url, such as one of its destinations."
            return [refusal, advice]
        }
        let names = reading.missing.map(\.rawValue).joined(separator: ", ")
        return [
            refusal,
            "The browser does not report \(names), so no fingerprint can be made. Only a token that the launch brings"
                + " from the page could find such a click.",
        ]
    }

    /// Sentences about the fingerprint that found the click, and about the server's facts on the match.
    private var found: [String] {
        var sentences: [String] = []
        if let hit = reading.hit {
            let rank = reading.made.filter { $0.input.form == hit.input.form }.firstIndex {
                $0.input == hit.input
            }
            let place = rank.map { $0 == 0 ? "the first" : "spelling \($0 + 1)" } ?? "one"
            let form = hit.input.form.rawValue
            let maker =
                trial.release.sendsRawSignals
                ? "From the values, the server makes \(hit.input.text) in form \(form)"
                : "Form \(form) of this release hashes \(hit.input.text)"
            sentences.append(
                "\(maker). This is \(place) of the texts"
                    + " under which the click is found in this form, with a weight of \(Self.percent(hit.weight))."
            )
        }
        guard let launch else { return sentences }
        var facts = launch.method.map { ["method \($0)"] } ?? []
        if let confidence = launch.confidence { facts.append("confidence \(Self.percent(confidence))") }
        let competing = launch.json?["competingClicks"]?.int64
        if let competing { facts.append("competing clicks \(competing)") }
        if launch.json?["guaranteed"]?.bool == true { facts.append("guaranteed") }
        if !facts.isEmpty { sentences.append("The server says: \(facts.joined(separator: ", ")).") }
        return sentences
    }

    private var whyNot: [String] {
        var sentences: [String] = []
        if let reason = launch?["reason"] {
            let meaning = NoMatchReason(rawValue: reason)?.meaning.clause ?? "see its documentation"
            sentences.append("The server's reason is \(reason): \(meaning).")
        } else if launch?.isNoMatch == true {
            sentences.append("The server states the reason to test keys only.")
        }
        if reading.isRobot {
            sentences.append("The user agent is a known robot's, and clicks of robots are never matched.")
        }
        if isAfterWindow { sentences.append("The launch came after the click's attribution window.") }
        if isAfterWindowOfMethod {
            sentences.append(
                "The click's window had not ended, but the app's window for this method had: see --fingerprint-window and"
                    + " --deterministic-window of `afterlink apps set`."
            )
        }
        guard reading.hit == nil, !reading.made.isEmpty else { return sentences }
        let differences = reading.differences
        guard !differences.isEmpty else {
            sentences.append(
                "Each component fits, but their combination on this device is so rare that the click is not stored"
                    + " under it: \(reading.launch.text)."
            )
            return sentences
        }
        sentences += differences.map { difference in
            let values = difference.click.prefix(5).map(\.text).joined(separator: " or ")
            let click = values.isEmpty ? "the click does not report it" : "the click says \(values)"
            return "Click and launch differ in \(difference.component.rawValue): \(click), the launch"
                + " \(trial.release.sendsRawSignals ? "says" : "hashes") \(difference.launch)."
        }
        return sentences
    }

    private var unexpected: [String] {
        guard !isAsExpected, click.isRecorded else { return [] }
        guard launch.map({ $0.isMatch || $0.isNoMatch }) ?? false else { return [] }
        if isMatchExpected, !isMatched {
            return [
                "By its values the launch should have got this click. The cause is named above, or lies in the server's"
                    + " settings for the app."
            ]
        }
        return isMatched ? ["By its values the launch should not have got this click."] : []
    }
}

extension TrialResult {
    /// Formats a share as a percentage, such as `69 %` or `0.4 %`.
    public static func percent(_ share: Double) -> String {
        let thousandths = Int(max(0, min(share, 1)) * 1000 + 0.5)
        return thousandths >= 100 || thousandths % 10 == 0
            ? "\((thousandths + 5) / 10) %" : "\(thousandths / 10).\(thousandths % 10) %"
    }
}
