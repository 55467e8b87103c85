public import Attribution

/// The reports that are stored as figures with names; the raw value is the word in the database.
public enum FigureReport: String, Sendable {
    case collisions
    case policyGrid = "policy_grid"
}

/// The stored form of a report on collisions: figures with names.
extension CollisionReport {
    /// Creates a report from its stored figures; nil if they are damaged.
    public init?(figures: [String: Double]) {
        func count(_ name: String) -> Int { figures[name].flatMap { Int(exactly: $0) } ?? 0 }
        func window(_ name: String) -> AttributionWindow? {
            figures[name].flatMap { Int64(exactly: $0) }.flatMap { AttributionWindow(seconds: $0) }
        }
        guard let countedAt = figures["counted_at"].flatMap({ Int64(exactly: $0) }),
            let standard = window("window_seconds")
        else { return nil }
        var forms: [Form] = []
        for (name, clicks) in figures {
            let parts = name.split(separator: "/")
            guard parts.count == 3, parts[0] == "form", parts[2] == "clicks" else { continue }
            guard let code = UInt64(parts[1]), let form = PlatformForm(code: code) else { return nil }
            let sharing = FingerprintSharing(
                clicks: clicks,
                aloneSum: figures["form/\(code)/alone"] ?? 0,
                competingSum: figures["form/\(code)/competing"] ?? 0
            )
            forms.append(Form(platformForm: form, sharing: sharing))
        }
        var limits: [FalseMatchLimit] = []
        for share in FalseMatchLimit.shares {
            var limit = FalseMatchLimit(share: share)
            let prefix = "limit/\(share)"
            if let minimum = figures["\(prefix)/minimum_confidence"] {
                limit.threshold = .init(minimum: minimum, matches: count("\(prefix)/matches_by_confidence"))
            }
            if figures["\(prefix)/window_seconds"] != nil {
                guard let window = window("\(prefix)/window_seconds") else { return nil }
                limit.window = .init(window: window, matches: count("\(prefix)/matches_in_window"))
            }
            limits.append(limit)
        }
        self.init(
            countedAt: Timestamp(milliseconds: countedAt),
            window: standard,
            forms: forms.sorted { $0.platformForm.code < $1.platformForm.code },
            matches: count("matches"),
            expectedFalse: figures["expected_false"] ?? 0,
            spread: figures["spread"] ?? 0,
            limits: limits
        )
    }

    /// The report under the names that ``init(figures:)`` reads.
    public var figures: [(name: String, value: Double)] {
        var figures: [(name: String, value: Double)] = [
            ("counted_at", Double(countedAt.milliseconds)), ("window_seconds", Double(window.seconds)),
            ("matches", Double(matches)), ("expected_false", expectedFalse), ("spread", spread),
        ]
        for form in forms {
            let prefix = "form/\(form.platformForm.code)"
            figures.append(("\(prefix)/clicks", form.sharing.clicks))
            figures.append(("\(prefix)/alone", form.sharing.aloneSum))
            figures.append(("\(prefix)/competing", form.sharing.competingSum))
        }
        for limit in limits {
            let prefix = "limit/\(limit.share)"
            if let threshold = limit.threshold {
                figures.append(("\(prefix)/minimum_confidence", threshold.minimum))
                figures.append(("\(prefix)/matches_by_confidence", Double(threshold.matches)))
            }
            if let window = limit.window {
                figures.append(("\(prefix)/window_seconds", Double(window.window.seconds)))
                figures.append(("\(prefix)/matches_in_window", Double(window.matches)))
            }
        }
        return figures
    }
}
