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

    /// The member `collisions` of an object.
    public func write(to json: inout JSONWriter) {
        json.member("collisions") { json in
            json.array { json in
                for app in collisions { json.object { write(app, to: &$0) } }
            }
        }
    }

    private func write(_ app: AppCollisions, to json: inout JSONWriter) {
        let report = app.report
        json.member("app", app.app.text)
        if let app = directory.app(app.app) { json.member("name", app.settings.name) }
        json.member("counted_at", report.countedAt.iso8601)
        json.member("window_seconds", report.window.seconds)
        json.member("forms") { json in
            json.array { json in
                for form in report.forms { json.object { write(form, to: &$0) } }
            }
        }
        json.member("matches", report.matches)
        json.member("expected_false_matches") { json in
            json.object { json in
                json.member("count", report.expectedFalse)
                json.member("spread", report.spread)
            }
        }
        json.member("false_match_share", report.falseShare)
        json.member("limits") { json in
            json.array { json in
                for limit in report.limits { json.object { write(limit, to: &$0) } }
            }
        }
    }

    /// A ready-made fingerprint's form is left out.
    private func write(_ form: CollisionReport.Form, to json: inout JSONWriter) {
        json.member("platform", form.platformForm.platform.rawValue)
        json.member("form", form.platformForm.form?.rawValue)
        json.member("clicks", form.crowding.clicks)
        json.member("alone", form.crowding.alone)
        json.member("competing_clicks", form.crowding.competing)
    }

    /// What does not keep to the limit is left out.
    private func write(_ limit: FalseMatchLimit, to json: inout JSONWriter) {
        json.member("false_match_share", limit.share)
        json.member("minimum_confidence", limit.threshold?.minimum)
        json.member("matches_by_confidence", limit.threshold?.matches)
        json.member("window_seconds", limit.window?.window.seconds)
        json.member("matches_in_window", limit.window?.matches)
    }
}
