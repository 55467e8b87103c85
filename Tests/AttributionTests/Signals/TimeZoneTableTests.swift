import Attribution
import Testing

@Suite("Time zone names")
struct TimeZoneTableTests {
    private let zones = DeviceData.embedded.timeZones

    @Test("have a canonical name, in any letter case")
    func vectors() throws {
        let classes = try Vectors.read("timezones", as: Vectors.TimeZones.self).classes
        #expect(classes.count == 96)
        for (canonical, names) in classes {
            for name in names {
                #expect(zones.canonical(name) == canonical)
                #expect(zones.canonical(name.lowercased()) == canonical)
                #expect(zones.canonical(name.uppercased()) == canonical)
            }
        }
    }

    @Test("agree between browser and app in the test vectors")
    func pairs() throws {
        let pairs = try Vectors.read("canonical", as: Vectors.Canonical.self).timezone
        #expect(pairs.count == 15)
        for pair in pairs {
            #expect(zones.canonical(pair.web) != nil)
            #expect(zones.canonical(pair.web) == zones.canonical(pair.native), "\(pair)")
        }
    }

    @Test(
        "stay within their country, unlike the links of the time zone database",
        arguments: [
            ("Africa/Asmera", "Africa/Asmara"), ("Africa/Timbuktu", "Africa/Bamako"),
            ("America/Coral_Harbour", "America/Atikokan"), ("America/Virgin", "America/St_Thomas"),
            ("Antarctica/South_Pole", "Antarctica/McMurdo"), ("Atlantic/Jan_Mayen", "Arctic/Longyearbyen"),
            ("Iceland", "Atlantic/Reykjavik"), ("Pacific/Ponape", "Pacific/Pohnpei"),
            ("Pacific/Truk", "Pacific/Chuuk"), ("Pacific/Yap", "Pacific/Chuuk"),
            ("asia/muscat", "Asia/Muscat"), ("europe/BRATISLAVA", "Europe/Bratislava"),
        ]
    )
    func exceptions(_ name: String, canonical: String) { #expect(zones.canonical(name) == canonical) }

    @Test("are known in any letter case, with their old names and as offsets; a misspelt one is not")
    func known() {
        for name in ["Europe/Berlin", "asia/CALCUTTA", "UTC", "Etc/GMT-3", "GMT+3"] {
            #expect(zones.isKnown(name), "\(name)")
        }
        for name in ["Mars/X", "Europe/Berlim", "Etc/Unknown", ""] {
            #expect(!zones.isKnown(name), "\(name)")
        }
    }

    @Test(
        "have one spelling for fixed offsets, and stay unchanged if unknown",
        arguments: [
            ("GMT+3", "UTC+03:00"), ("UTC+3", "UTC+03:00"), ("+03:00", "UTC+03:00"), ("+0300", "UTC+03:00"),
            ("gmt+0330", "UTC+03:30"), ("-05:00", "UTC-05:00"), ("Etc/GMT-3", "UTC+03:00"),
            ("Etc/GMT+12", "UTC-12:00"), ("etc/gmt-14", "UTC+14:00"), ("+00:00", "UTC"), ("-00:00", "UTC"),
            ("GMT", "UTC"), ("Zulu", "UTC"), ("Europe/Paris", "Europe/Paris"), ("Mars/Base", "Mars/Base"),
            ("GMT+", "GMT+"), ("GMT+25", "GMT+25"), ("+03:60", "+03:60"), ("+3:00", "+3:00"),
            ("Etc/+03:00", "Etc/+03:00"), ("GMT3", "GMT3"), ("+123", "+123"),
        ]
    )
    func offsets(_ name: String, expected: String) { #expect(zones.canonical(name) == expected) }

    @Test(
        "are unknown if they are malformed or undetermined",
        arguments: ["", " ", "a b", "a|b", "Europe/İstanbul", "Etc/Unknown", "etc/unknown", "Factory"]
    )
    func unknown(_ name: String) { #expect(zones.canonical(name) == nil) }
}
