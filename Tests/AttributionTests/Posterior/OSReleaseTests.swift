import Attribution
import Testing

@Suite("The system that a launch reports")
struct OSReleaseTests {
    @Test(
        "is read from the default agents of apps",
        arguments: [
            ("Shop/12 CFNetwork/3826.500.131 Darwin/25.1.0", "26.1"),
            ("Shop/12 CFNetwork/1568.200.51 Darwin/24.1.0", "18.1"),
            ("Shop/12 CFNetwork/1490.0.4 Darwin/23.2.0", "17.2"),
            ("Shop/12 CFNetwork/1335.0.3 Darwin/21.6.0", "15.6+"),
            ("Dalvik/2.1.0 (Linux; U; Android 14; SM-S911B Build/UP1A.231005.007)", "14"),
            ("Shop/12 CFNetwork/1 Darwin/19.0.0", nil),
            ("Shop/12 CFNetwork/1568.200.51 Darwin/24.1.0 (x86_64)", nil), ("okhttp/4.12.0", nil), ("", nil),
        ] as [(String, String?)]
    )
    func agents(agent: String, expected: String?) {
        let text = OSRelease(launchAgent: agent).map { release in
            "\(release.major)" + (release.minor.map { ".\($0)" } ?? "") + (release.isAtLeast ? "+" : "")
        }
        #expect(text == expected)
    }

    @Test("agrees with a click's system if the numbers that both have are equal, or not below a minimum")
    func agreement() {
        let sixth = OSRelease(platform: .ios, major: 18, minor: 6, isAtLeast: true)
        #expect(sixth.agrees(with: OSRelease(platform: .ios, major: 18, minor: 7)))
        #expect(!sixth.agrees(with: OSRelease(platform: .ios, major: 18, minor: 5)))
        #expect(!sixth.agrees(with: OSRelease(platform: .android, major: 18, minor: 6)))
        let release = OSRelease(platform: .ios, major: 26, minor: 1)
        #expect(OSRelease(platform: .ios, major: 26).agrees(with: release))
        #expect(OSRelease(code: release.code) == release)
        let android = OSRelease(platform: .android, major: 14)
        #expect(OSRelease(code: android.code) == android)
        #expect(OSRelease(code: 0) == nil)
    }
}
