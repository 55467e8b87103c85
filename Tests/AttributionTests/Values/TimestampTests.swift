import Attribution
import Testing

@Suite("Timestamp text")
struct TimestampTextTests {
    @Test(
        "reads RFC 3339 with Z or an offset and cuts fractions to milliseconds",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2025-01-08T14:30:00.000Z", 1_736_346_600_000),
            ("2025-01-08T14:30:00Z", 1_736_346_600_000), ("2025-01-08t14:30:00z", 1_736_346_600_000),
            ("2025-01-08T17:30:00+03:00", 1_736_346_600_000),
            ("2025-01-08T09:00:00.000-05:30", 1_736_346_600_000),
            ("2025-01-08T14:30:00.5Z", 1_736_346_600_500),
            ("2025-01-08T14:30:00.1239999Z", 1_736_346_600_123),
            ("2025-01-08T14:30:00.00000000000000000000000001Z", 1_736_346_600_000),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("1969-12-31T23:59:59.999Z", -1), ("0001-01-01T00:00:00.000Z", -62_135_596_800_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ]
    )
    func reads(_ text: String, milliseconds: Int64) {
        #expect(Timestamp(iso8601: text) == Timestamp(milliseconds: milliseconds))
    }

    @Test(
        "refuses impossible days and times, and other spellings",
        arguments: [
            "", "2025", "2025-01-08", "2025-01-08T14:30:00", "2025-01-08 14:30:00Z", "2025-01-08T14:30Z",
            "2025-1-8T14:30:00Z", "25-01-08T14:30:00Z", "02025-01-08T14:30:00Z", "2025-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z", "2025-04-31T00:00:00Z", "2025-13-01T00:00:00Z", "2025-00-01T00:00:00Z",
            "2025-01-00T00:00:00Z", "2025-01-32T00:00:00Z", "2025-01-08T24:00:00Z", "2025-01-08T23:60:00Z",
            "2025-01-08T23:59:60Z", "2025-01-08T14:30:00.Z", "2025-01-08T14:30:00,5Z",
            "2025-01-08T14:30:00+3", "2025-01-08T14:30:00+0300", "2025-01-08T14:30:00+24:00",
            "2025-01-08T14:30:00+03:60", "2025-01-08T14:30:00Z ", " 2025-01-08T14:30:00Z",
            "2025-01-08T14:30:00ZZ", "0000-01-01T00:00:00Z", "-2025-01-08T14:30:00Z", "+2025-01-08T14:30:00Z",
            "2025-01-08T14:30:00.５Z", "２025-01-08T14:30:00Z", "1736346600000",
        ]
    )
    func refuses(_ text: String) { #expect(Timestamp(iso8601: text) == nil) }

    @Test(
        "writes three digits of milliseconds and Z, and clamps to the years 1 to 9999",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_736_346_600_007, "2025-01-08T14:30:00.007Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (505_872_000_000, "1986-01-12T00:00:00.000Z"), (.min, "0001-01-01T00:00:00.000Z"),
            (.max, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)]
    )
    func writes(milliseconds: Int64, expected: String) {
        #expect(Timestamp(milliseconds: milliseconds).iso8601 == expected)
    }

    @Test("is the same when read again, over four centuries and at both limits")
    func roundTrip() {
        var times = Array(stride(from: Int64(-6_000_000_000_000), to: 7_000_000_000_000, by: 12_345_678_901))
        times += [Timestamp.earliestWritten.milliseconds, Timestamp.latestWritten.milliseconds]
        for milliseconds in times {
            let moment = Timestamp(milliseconds: milliseconds)
            #expect(Timestamp(iso8601: moment.iso8601) == moment)
        }
    }
}

@Suite("Civil dates")
struct CivilDateTests {
    @Test("include every day of a thousand years once and in order")
    func everyDay() throws {
        var previous = CivilDate(daysSinceEpoch: -200_001)
        for days in Int64(-200_000)...200_000 {
            let date = CivilDate(daysSinceEpoch: days)
            #expect(date.daysSinceEpoch == days)
            #expect((previous.year, previous.month, previous.day) < (date.year, date.month, date.day))
            #expect(CivilDate(year: date.year, month: date.month, day: date.day) == date)
            previous = date
        }
    }

    @Test(
        "round a time down to its hour and its day",
        arguments: [
            (0, 0, 0), (3_599_999, 0, 0), (3_600_000, 3_600_000, 0), (86_399_999, 82_800_000, 0),
            (86_400_000, 86_400_000, 86_400_000), (-1, -3_600_000, -86_400_000), (.min, .min, .min),
        ] as [(Int64, Int64, Int64)]
    )
    func starts(milliseconds: Int64, hour: Int64, day: Int64) {
        let moment = Timestamp(milliseconds: milliseconds)
        #expect(Granularity.hour.start(of: moment) == Timestamp(milliseconds: hour))
        #expect(Granularity.day.start(of: moment) == Timestamp(milliseconds: day))
    }
}
