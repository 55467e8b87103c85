internal import Attribution

/// Reports on collisions as tables, app by app.
struct CollisionTables {
    let collisions: [AppCollisions]
    let directory: Directory

    var texts: [String] { collisions.flatMap(texts) }

    private func texts(_ app: AppCollisions) -> [String] {
        let report = app.report
        let known = directory.app(app.app)
        let name = known?.settings.name ?? app.app.text
        let window = ElapsedTime.text(milliseconds: report.window.seconds * 1000)
        let head = "Collisions of \(name), window \(window), counted \(report.countedAt.iso8601):"
        guard !report.forms.isEmpty || report.matches > 0 else {
            return ["\(head) no click with a fingerprint and no match by one is held."]
        }
        return [
            "\(head)\n\(forms(report.forms))",
            matches(report, known?.settings.policy) + "\n" + limits(report.limits),
        ]
    }

    private func forms(_ forms: [CollisionReport.Form]) -> String {
        var table = Table([
            ("PLATFORM", .left), ("FORM", .left), ("CLICKS", .right), ("ALONE", .right),
            ("COMPETING", .right),
        ])
        for form in forms {
            table.add([
                form.platformForm.platform.rawValue,
                form.platformForm.form?.rawValue ?? "ready-made",
                String(Int(form.crowding.clicks.rounded())),
                Table.percent(form.crowding.alone),
                form.crowding.competing.map { Self.decimal($0, digits: 1) } ?? "–",
            ])
        }
        return table.text
    }

    private func matches(_ report: CollisionReport, _ policy: MatchPolicy?) -> String {
        guard report.matches > 0 else { return "No match by a fingerprint is recorded." }
        let rule =
            policy.map {
                " (rule \($0.rule.rawValue), minimum confidence \(Self.decimal($0.minimumConfidence, digits: 2)))"
            } ?? ""
        return "Matches by fingerprint: \(report.matches) recorded\(rule), of which"
            + " \(Int(report.expectedFalse.rounded())) ± \(Int(report.spread.rounded())) are expected to be wrong"
            + " (\(Table.percent(report.falseShare)))."
    }

    private func limits(_ limits: [FalseMatchLimit]) -> String {
        var table = Table([
            ("WRONG AT MOST", .left), ("MINIMUM CONFIDENCE", .right), ("MATCHES", .right),
            ("OR WINDOW", .right),
            ("MATCHES", .right),
        ])
        for limit in limits {
            table.add([
                "\(Int((limit.share * 100).rounded())) %",
                limit.threshold.map { Self.decimal($0.minimum, digits: 3) } ?? "none does",
                limit.threshold.map { String($0.matches) } ?? "–",
                limit.window.map { ElapsedTime.text(milliseconds: $0.window.seconds * 1000) } ?? "none does",
                limit.window.map { String($0.matches) } ?? "–",
            ])
        }
        return table.text
    }

    private static func decimal(_ number: Double, digits: Int) -> String {
        var unit = 1.0
        for _ in 0..<digits { unit *= 10 }
        return String((number * unit).rounded() / unit)
    }
}
