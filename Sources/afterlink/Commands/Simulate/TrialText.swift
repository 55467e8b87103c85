internal import Attribution
package import Server

/// A trial's result for people: the requests, what the server makes of them, and why the launch matched or not.
struct TrialText {
    private let report: TrialReport
    private let result: TrialResult

    init(_ report: TrialReport) {
        self.report = report
        result = report.result
    }

    var text: String {
        var parts = [
            header, "── The click, as the browser sends it", report.click.shown,
            Self.shown(result.click.statusText, result.click.body), "── What the click says of the device",
            values, "── What the click is found by", forms,
            sendsRawSignals
                ? "── What the server makes of the device's values, component by component"
                : "── What the device hashes, component by component", components,
        ]
        if let launch = report.launch, let response = result.launch {
            parts += [
                sendsRawSignals
                    ? "── The first launch, as a newer client asks" : "── The first launch, as the SDK asks",
                launch.shown,
                Self.shown(response.statusText, response.body),
            ]
        }
        return (parts + ["── Why", result.explanation.joined(separator: "\n")]).joined(separator: "\n\n")
    }

    private static func shown(_ status: String, _ body: String) -> String {
        "< \(status)\n" + JSONLayout.indented(body, by: "< ")
    }

    private var sendsRawSignals: Bool { result.trial.release.sendsRawSignals }

    private var client: String {
        let release = result.trial.release
        let form = release.form.rawValue
        guard !sendsRawSignals else {
            return "client   a newer one, which sends its values; the server makes form \(form) of them"
        }
        return "SDK      \(release.name), which hashes form \(form) and calls itself \(release.versionField)"
    }

    private var header: String {
        let trial = result.trial
        let language = trial.person.language(on: trial.device.platform)
        return """
            profile  \(trial.profile.name): \(trial.profile.title)
                     seen in \(trial.profile.source)
            device   \(trial.device.name): \(trial.device.model), \(trial.device.osVersion), \
            \(trial.device.screenText) at \(trial.device.scale), \(trial.person.deviceTimezone), \(language)
            \(client)
            """
    }

    private var values: String {
        var table = Table([("VALUE", .left), ("CANONICAL", .left)])
        for (name, value) in result.reading.values { table.add([name, value ?? "unknown"]) }
        return table.text
    }

    private var forms: String {
        guard !result.reading.made.isEmpty else { return "Nothing: no form has all of its components." }
        var table = Table([("FORM", .left), ("WEIGHT", .right), ("MADE OF", .left), ("", .left)])
        for made in result.reading.made {
            let isHit = made.input == result.reading.launch
            table.add([
                made.input.form.rawValue, TrialResult.percent(made.weight), made.input.text,
                isHit ? "<- the launch asks for this one" : "",
            ])
        }
        return table.text
    }

    private var components: String {
        let form = result.reading.launch.form.rawValue
        var table = Table([
            ("COMPONENT", .left), ("IN FORM \(form)", .left), ("LAUNCH", .left), ("CLICK", .left),
            ("", .left),
        ])
        for component in result.reading.components {
            let spellings = component.click.prefix(6).map { "\($0.text) (\(TrialResult.percent($0.weight)))" }
            let more = component.click.count > 6 ? ", and \(component.click.count - 6) more" : ""
            table.add([
                component.component.rawValue, component.isHashed ? "yes" : "no", component.launch,
                spellings.isEmpty ? "unknown" : spellings.joined(separator: ", ") + more,
                component.fits ? "" : component.isHashed ? "<- differs" : "(differs)",
            ])
        }
        let launch = result.reading.launch
        return "\(table.text)\n\nSHA-256 of \(launch.text)\n     is \(launch.fingerprint.hex)"
    }

    /// A table with a row for each trial.
    static func table(_ results: [TrialResult]) -> String {
        var table = Table([
            ("PROFILE", .left), ("DEVICE", .left), ("SDK", .left), ("FORM", .left), ("RESULT", .left),
            ("METHOD", .left), ("CONFIDENCE", .right), ("AS EXPECTED", .left),
        ])
        for result in results {
            table.add([
                result.trial.profile.name, result.trial.device.name, result.trial.release.name,
                result.trial.release.form.rawValue, result.word, result.launch?.method ?? "",
                result.launch?.confidence.map(TrialResult.percent) ?? "", result.isAsExpected ? "yes" : "NO",
            ])
        }
        return table.text
    }
}

extension ClientRequest {
    /// The request for people: without the fields that state nothing of interest, and with keys cut short.
    package var shown: String {
        let omitted = ["Host", "Accept", "Accept-Encoding", "Sec-Fetch-Site", "Content-Length", "Connection"]
        let lines = fields.filter { !omitted.contains($0.name) }.map { field in
            let isKey = field.name == "Authorization"
            return "> \(field.name): " + (isKey ? field.value.prefix(16) + "…" : field.value[...])
        }
        let content = body.isEmpty ? "" : "\n>\n" + JSONLayout.indented(body, by: "> ")
        return (["> \(line)"] + lines).joined(separator: "\n") + content
    }
}
