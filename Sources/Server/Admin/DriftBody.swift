internal import Attribution
internal import JSON

/// The JSON form of the watch on match rates, a part of a statistics report.
struct DriftBody {
    let drift: [AppDrift]
    let directory: Directory

    func write(to json: inout JSONWriter) {
        json.name("drift")
        json.object { json in
            let alarms = drift.flatMap(\.readings).count { $0.alarm != nil }
            json.member("alarms", Int64(alarms))
            json.name("groups")
            json.array { json in
                for app in drift {
                    for reading in app.readings { json.object { write(reading, of: app.app, to: &$0) } }
                }
            }
        }
    }

    private func write(_ reading: DriftReading, of app: AppID, to json: inout JSONWriter) {
        let group = reading.group
        json.member("app", app.text)
        if let app = directory.app(app) { json.member("name", app.settings.name) }
        json.member("by", group.side.rawValue)
        json.member("title", group.title)
        part("platform", group.platform, &json)
        part("os_version", group.osVersion, &json)
        part(group.side == .launch ? "sdk_version" : "browser", group.client, &json)
        json.member("status", reading.status.rawValue)
        json.member(group.side == .launch ? "checks" : "clicks", reading.recent.trials)
        json.member("matches", reading.recent.matches)
        rate("match_rate", reading.recent.rate, &json)
        rate("usual_match_rate", reading.usualRate, &json)
        guard let alarm = reading.alarm else { return }
        json.member("fallen_to", alarm.rate)
        json.member("fallen_since", alarm.since.iso8601)
        json.member("detected_at", alarm.began.iso8601)
    }

    /// What is not known is null; what the group holds all or the rest of says so.
    private func part(_ name: String, _ part: DriftGroup.Part, _ json: inout JSONWriter) {
        json.name(name)
        switch part {
        case .value(let text): json.value(text)
        case .unknown: json.null()
        case .others: json.value("other")
        case .all: json.value("all")
        }
    }

    private func rate(_ name: String, _ value: Double?, _ json: inout JSONWriter) {
        json.name(name)
        if let value { json.value(value) } else { json.null() }
    }
}
