internal import Attribution
internal import JSON

/// The JSON form of match rates by group, a part of a statistics report.
struct DriftBody {
    let drift: [AppDrift]
    let directory: Directory

    func write(to json: inout JSONWriter) {
        json.object("drift") { json in
            json.member("alarms", drift.flatMap(\.readings).count { $0.alarm != nil })
            json.objects("groups", drift.flatMap { app in app.readings.map { (app.app, $0) } }) {
                write($1.1, of: $1.0, to: &$0)
            }
        }
    }

    private func write(_ reading: DriftReading, of app: AppID, to json: inout JSONWriter) {
        let group = reading.group
        json.member("app", app.text)
        json.member("name", directory.app(app)?.settings.name)
        json.member("by", group.side.rawValue)
        json.member("title", group.title)
        json.member("platform", orNull: Self.text(group.platform))
        json.member("os_version", orNull: Self.text(group.osVersion))
        json.member(group.side == .launch ? "sdk_version" : "browser", orNull: Self.text(group.client))
        json.member("status", reading.status.rawValue)
        json.member(group.side == .launch ? "checks" : "clicks", reading.recent.trials)
        json.member("matches", reading.recent.matches)
        json.member("match_rate", orNull: reading.recent.rate)
        json.member("usual_match_rate", orNull: reading.usualRate)
        guard let alarm = reading.alarm else { return }
        json.member("fallen_to", alarm.rate)
        json.member("fallen_since", alarm.since.iso8601)
        json.member("detected_at", alarm.began.iso8601)
    }

    /// Nil for an unknown part.
    private static func text(_ part: DriftGroup.Part) -> String? {
        switch part {
        case .value(let text): text
        case .unknown: nil
        case .others: "other"
        case .all: "all"
        }
    }
}
