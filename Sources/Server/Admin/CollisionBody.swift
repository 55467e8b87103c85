public import Attribution
public import JSON

/// The JSON form of reports on collisions, a part of a statistics report and what `afterlink collisions --json` prints.
public struct CollisionBody {
    private let collisions: [AppCollisions]
    private let directory: Directory

    public init(collisions: [AppCollisions], directory: Directory) {
        self.collisions = collisions
        self.directory = directory
    }

    /// Writes the member `collisions` of an object; what is unknown, or does not keep to a limit, is left out.
    public func write(to json: inout JSONWriter) {
        json.objects("collisions", collisions) { json, app in
            let report = app.report
            json.member("app", app.app.text)
            json.member("name", directory.app(app.app)?.settings.name)
            json.member("counted_at", report.countedAt.iso8601)
            json.member("window_seconds", report.window.seconds)
            json.objects("forms", report.forms) { json, form in
                json.member("platform", form.platformForm.platform.rawValue)
                json.member("form", form.platformForm.form?.rawValue)
                json.member("clicks", form.crowding.clicks)
                json.member("alone", form.crowding.alone)
                json.member("competing_clicks", form.crowding.competing)
            }
            json.member("matches", report.matches)
            json.object("expected_false_matches") { json in
                json.member("count", report.expectedFalse)
                json.member("spread", report.spread)
            }
            json.member("false_match_share", report.falseShare)
            json.objects("limits", report.limits) { json, limit in
                json.member("false_match_share", limit.share)
                json.member("minimum_confidence", limit.threshold?.minimum)
                json.member("matches_by_confidence", limit.threshold?.matches)
                json.member("window_seconds", limit.window?.window.seconds)
                json.member("matches_in_window", limit.window?.matches)
            }
        }
    }
}
