import Attribution
import Testing

@Suite("Search for the values of a fingerprint")
struct FingerprintSearchTests {
    private let click = FingerprintInput(form: .d, values: ["iPhone", "Europe/Istanbul", "tr"])
    private let vocabulary = FingerprintSearch.Vocabulary([
        .model: ["iPhone", "iPad"], .osVersion: ["17.2", "26.3.1"], .screen: ["390x844", "402x874"],
        .width: ["1170", "1206"], .timezone: ["Europe/Istanbul", "Asia/Dubai", "Europe/Berlin"],
        .language: ["tr", "de", "ar"],
    ])

    @Test(
        "finds the components in which a launch differs from the nearest click",
        arguments: [
            (["iPhone", "Asia/Dubai", "tr"], [SignalComponent.timezone]),
            (["iPhone", "Asia/Dubai", "ar"], [.timezone, .language]),
            (["iPad", "Europe/Istanbul", "tr"], [.model]), (["iPhone", "Europe/Istanbul", "tr"], []),
            (["iPad", "Europe/Berlin", "de"], [.model, .timezone, .language]),
        ]
    )
    func differences(_ values: [String], differing: [SignalComponent]) throws {
        let click = try #require(click)
        let launch = try #require(FingerprintInput(form: .d, values: values))
        let search = FingerprintSearch(vocabulary)
        let found = try #require(search.input(of: launch.fingerprint, near: [click]))
        #expect(found == launch)
        #expect(found.differences(from: click) == differing)
    }

    @Test("finds the form of a launch if the click has inputs of every form")
    func form() throws {
        let signals = TestValues.signals
        let search = FingerprintSearch(vocabulary)
        let launch = Fingerprint(of: "iPhone|26.3.1|390x844|Europe/Istanbul|tr")
        let found = try #require(search.input(of: launch, near: signals.inputs()))
        #expect(found.form == .a)
        #expect(found.value(of: .osVersion) == "26.3.1")
        let nearest = try #require(signals.inputs().first { $0.form == .a })
        #expect(found.differences(from: nearest) == [.osVersion])
        // Without a near click, all combinations are tried.
        #expect(search.input(of: launch, near: [])?.text == "iPhone|26.3.1|390x844|Europe/Istanbul|tr")
    }

    @Test("finds no values outside the vocabulary, and ends at its limit")
    func limit() throws {
        let click = try #require(click)
        let search = FingerprintSearch(vocabulary)
        #expect(search.input(of: Fingerprint(of: "iPhone|Mars/Base|tr"), near: [click]) == nil)
        let launch = try #require(FingerprintInput(form: .d, values: ["iPad", "Europe/Berlin", "de"]))
        #expect(FingerprintSearch(vocabulary, limit: 3).input(of: launch.fingerprint, near: [click]) == nil)
        var wide = FingerprintSearch.Vocabulary()
        for number in 0..<1000 {
            let values = ["m\(number)", "z\(number)", "l\(number)"]
            if let input = FingerprintInput(form: .d, values: values) { wide.add(input) }
        }
        #expect(wide.values[.timezone]?.count == 1000)
        #expect(FingerprintSearch(wide, limit: 5000).input(of: launch.fingerprint, near: [click]) == nil)
    }

    @Test("tries values near the clicks before all combinations")
    func nearest() throws {
        let click = try #require(click)
        var wide = vocabulary
        for number in 0..<1000 { wide.values[.model, default: []].append("m\(number)") }
        let launch = try #require(FingerprintInput(form: .d, values: ["iPhone", "Asia/Dubai", "ar"]))
        // Form D alone has nine thousand combinations.
        #expect(FingerprintSearch(wide, limit: 1100).input(of: launch.fingerprint, near: [click]) == launch)
        #expect(FingerprintSearch(wide, limit: 1100).input(of: launch.fingerprint, near: []) == nil)
        #expect(FingerprintSearch(wide, limit: 10_000).input(of: launch.fingerprint, near: []) == launch)
    }

    @Test("accepts an input only if it has a value for each component of its form")
    func inputs() {
        #expect(FingerprintInput(form: .d, values: ["iPhone", "tr"]) == nil)
        #expect(click?.value(of: .timezone) == "Europe/Istanbul")
        #expect(click?.value(of: .osVersion) == nil)
        let other = FingerprintInput(form: .c, values: ["iPhone", "1170", "Europe/Istanbul", "tr"])
        #expect(click.flatMap { other?.differences(from: $0) } == [])
    }
}
