internal import Attribution
internal import JSON

/// What the statistics say of probabilities.
extension StatisticsBody {
    func expected(_ sum: ExpectedConversions, _ json: inout JSONWriter) {
        json.name("expected_conversions")
        json.object { json in
            json.member("count", sum.count)
            json.member("spread", sum.spread)
        }
    }

    func methods(_ json: inout JSONWriter) {
        json.name("methods")
        json.array { json in
            for group in report.byMethod {
                json.object { json in
                    json.member("method", group.name)
                    json.member("matches", group.counts[.matches] ?? 0)
                }
            }
        }
    }

    /// The launches whose token told which click led to them, by the tenth in which the probability lay.
    func calibration(_ json: inout JSONWriter) {
        json.name("calibration")
        json.object { json in
            json.member("launches", report.calibration.launches)
            json.name("error")
            if let error = report.calibration.error { json.value(error) } else { json.null() }
            json.name("bins")
            json.array { json in
                for (index, bin) in report.calibration.bins.enumerated() {
                    json.object { json in
                        json.member("from", Double(index) / Double(CalibrationTable.binCount))
                        json.member("to", Double(index + 1) / Double(CalibrationTable.binCount))
                        json.member("launches", bin.launches)
                        json.member("stated", bin.stated)
                        json.member("expected", bin.expected)
                        json.member("right", bin.right)
                    }
                }
            }
        }
    }
}
