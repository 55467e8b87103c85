internal import Attribution

/// The probabilities of a statistics report as tables; empty tables are left out.
struct ProbabilityTables {
    let report: StatisticsReport

    var texts: [String] {
        [methods, campaigns, calibration].compactMap(\.self)
    }

    /// As `812.4 ± 9.1`.
    static func text(_ sum: ExpectedConversions) -> String {
        "\(tenths(sum.count)) ± \(tenths(sum.spread))"
    }

    private var methods: String? {
        guard !report.byMethod.isEmpty else { return nil }
        var table = Table([("METHOD", .left), ("MATCHES", .right)])
        for group in report.byMethod { table.add([group.name, String(group.counts[.matches] ?? 0)]) }
        return table.text
    }

    private var campaigns: String? {
        guard !report.byCampaign.isEmpty else { return nil }
        var table = Table([
            ("CAMPAIGN", .left), ("MATCHES GIVEN", .right), ("EXPECTED CONVERSIONS", .right),
        ])
        for group in report.byCampaign {
            let expected = group.expected ?? .zero
            table.add([group.name, String(group.counts[.matches] ?? 0), Self.text(expected)])
        }
        return table.text
    }

    private var calibration: String? {
        guard report.calibration.launches > 0 else { return nil }
        var table = Table([
            ("STATED", .left), ("LAUNCHES WITH A TOKEN", .right), ("STATED, SUM", .right),
            ("EXPECTED RIGHT", .right),
            ("RIGHT", .right),
        ])
        for (index, bin) in report.calibration.bins.enumerated() where bin.launches > 0 {
            table.add([
                "\(index * 10)–\((index + 1) * 10) %", String(bin.launches), Self.tenths(bin.stated),
                Self.tenths(bin.expected), String(bin.right),
            ])
        }
        return table.text
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}
