internal import Attribution
internal import JSON
package import Server

/// A trial's result as text: the requests, how the server reads them, and why the launch matched or not.
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
            Self.shown(result.click.statusText, result.click.body), "── The click's values",
            values, "── The click's fingerprints", forms,
            sendsRawSignals
                ? "── The server's reading of the device's values, by component"
                : "── The values that the device hashes, by component", components,
        ]
        if let launch = report.launch, let response = result.launch {
            parts += [
                sendsRawSignals
                    ? "── The first launch, as a newer client sends it"
                    : "── The first launch, as the SDK sends it",
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
            return
                "client   newer than the SDKs: it sends its values, which the server hashes as form \(form)"
        }
        return
            "SDK      \(release.name), which hashes form \(form) and sends the version \(release.versionField)"
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
        result.reading.values.table([.left("VALUE", \.0), .left("CANONICAL") { $0.1 ?? "unknown" }])
    }

    private var forms: String {
        guard !result.reading.made.isEmpty else { return "None: no form has all of its components." }
        return result.reading.made.table([
            .left("FORM", \.input.form.rawValue),
            .right("WEIGHT") { TrialResult.percent($0.weight) },
            .left("HASH OF", \.input.text),
            .left("") { $0.input == result.reading.launch ? "<- the launch sends this one" : "" },
        ])
    }

    private var components: String {
        let form = result.reading.launch.form.rawValue
        let table = result.reading.components.table([
            .left("COMPONENT", \.component.rawValue),
            .left("IN FORM \(form)") { $0.isHashed ? "yes" : "no" },
            .left("LAUNCH", \.launch),
            .left("CLICK") { component in
                let spellings = component.click.prefix(6).map {
                    "\($0.text) (\(TrialResult.percent($0.weight)))"
                }
                let more = component.click.count > 6 ? ", and \(component.click.count - 6) more" : ""
                return spellings.isEmpty ? "unknown" : spellings.joined(separator: ", ") + more
            },
            .left("") { $0.fits ? "" : $0.isHashed ? "<- differs" : "(differs)" },
        ])
        let launch = result.reading.launch
        return "\(table)\n\nSHA-256 of \(launch.text)\n     is \(launch.fingerprint.hex)"
    }

    /// A table with a row for each trial.
    static func table(_ results: [TrialResult]) -> String {
        results.table([
            .left("PROFILE", \.trial.profile.name),
            .left("DEVICE", \.trial.device.name),
            .left("SDK", \.trial.release.name),
            .left("FORM", \.trial.release.form.rawValue),
            .left("RESULT", \.word),
            .left("METHOD") { $0.launch?.method ?? "" },
            .right("CONFIDENCE") { $0.launch?.confidence.map(TrialResult.percent) ?? "" },
            .left("AS EXPECTED") { $0.isAsExpected ? "yes" : "NO" },
        ])
    }
}

extension ClientRequest {
    /// The request as text, without its routine fields, and with keys cut short.
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

/// The built-in browsers, devices and releases, as tables and JSON.
enum TrialCatalogue {
    static var text: String {
        let profiles = BrowserProfile.all.table([
            .left("PROFILE", \.name), .left("DEVICE", \.device), .left("DESCRIPTION", \.title),
        ])
        let devices = TrialDevice.all.table([
            .left("DEVICE", \.name), .left("MODEL", \.model), .left("OS", \.osVersion),
            .left("SCREEN", \.screenText), .right("WIDTH IN PIXELS", \.widthText),
        ])
        let releases = SDKRelease.all.table([
            .left("SDK", \.name), .left("FORM", \.form.rawValue),
            .left("HASHES") { $0.form.components.map(\.rawValue).joined(separator: ", ") },
            .left("VERSION FIELD", \.versionField),
        ])
        return [profiles, devices, releases].joined(separator: "\n\n")
    }

    static var json: String {
        JSONWriter.text(isPretty: true) { json in
            json.objects("profiles", BrowserProfile.all) { json, profile in
                json.member("name", profile.name)
                json.member("title", profile.title)
                json.member("source", profile.source)
                json.member("device", profile.device)
                json.member("robot", profile.isRobot)
                json.member("user_agent", profile.agent)
            }
            json.objects("devices", TrialDevice.all) { json, device in
                json.member("name", device.name)
                json.member("platform", device.platform.rawValue)
                json.member("model", device.model)
                json.member("os_version", device.osVersion)
                json.member("screen", device.screenText)
                json.member("width", device.widthText)
            }
            json.objects("sdks", SDKRelease.all) { json, release in
                json.member("name", release.name)
                json.member("platform", release.platform.rawValue)
                json.member("form", release.form.rawValue)
                json.member("version_field", release.versionField)
            }
        }
    }
}
