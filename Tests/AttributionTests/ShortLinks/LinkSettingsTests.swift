import Attribution
import Testing

@Suite("Link settings")
struct LinkSettingsTests {
    /// All fields, as an operator may write them.
    static let whole: LinkFields = {
        var fields = LinkFields()
        for (field, text) in samples { fields.set(field, text) }
        fields[.variants] = ["a 70 myapp://promo/a", "b 30 /promo/b?x=1"]
        fields[.passedParameters] = ["gclid", "utm_id"]
        fields[.tags] = ["summer", "2025 Q3"]
        return fields
    }()

    private static let samples: [(LinkField, String)] = [
        (.title, "Yaz kampanyası"), (.destination, "myapp://promo/item?a=1#top"),
        (.iosDestination, "/promo/item"), (.androidDestination, "https://shop.example/promo"),
        (.desktopURL, "https://shop.example/"), (.iosFallback, "https://apps.apple.com/app/id1234567890"),
        (.androidFallback, "https://play.google.com/store/apps/details?id=com.example.shop"),
        (.huaweiFallback, "https://appgallery.huawei.com/app/C100"), (.campaignKey, "SUMMER25"),
        (.source, "instagram"), (.utmSource, "ig"), (.utmMedium, "social"), (.utmCampaign, "summer"),
        (.utmTerm, "shoes"), (.utmContent, "story 1"), (.metadata, #"{"a":[1,2.50,"x"]}"#),
        (.journeyID, "journey_1"), (.windowSeconds, "3600"), (.expiresAt, "2027-01-31T18:00:00.000Z"),
        (.maximumClicks, "1000"), (.referralCode, "AYSE_1"), (.previewTitle, "Yaz"),
        (.previewDescription, "Her şey yarı fiyatına"), (.previewImage, "https://shop.example/a.png"),
        (.pasteboard, "true"), (.qrForeground, "#112233"), (.qrBackground, "#ffffff"),
        (.qrErrorCorrection, "H"),
    ]

    @Test("stay the same when they are written as fields and read again, for every field")
    func roundTrip() throws {
        let settings = try Link.Settings(Self.whole)
        #expect(settings.fields == Self.whole)
        #expect(Set(settings.fields.all.map(\.field)) == Set(LinkField.allCases))
        #expect(try Link.Settings(settings.fields) == settings)
        #expect(Link.Settings(stored: Self.whole) == settings)
        #expect(try Link.Settings(LinkFields()) == Link.Settings())
        #expect(Link.Settings().fields == LinkFields())
    }

    @Test("are refused with the field and a remedy if a text is invalid", arguments: refused)
    func refuses(_ field: LinkField, _ text: String) {
        var fields = LinkFields()
        fields[field] = [text]
        let error = #expect(throws: FieldProblems.self) { try Link.Settings(fields) }
        #expect(error?.all.map(\.field) == [field.rawValue])
        for problem in error?.all ?? [] {
            #expect(problem.message.hasSuffix("."))
            #expect(!problem.message.contains("\n"))
        }
        // Stored fields are never refused, so that the rest of the link continues to work.
        #expect(Link.Settings(stored: fields) == Link.Settings())
    }

    private static let refused: [(LinkField, String)] = [
        // Released clients lose these destinations.
        (.destination, "myapp:///item"), (.destination, "https://shop.example"),
        (.destination, "https://shop.example/"), (.destination, "https://shop.example/?a=1"),
        (.destination, "myapp:item"), (.destination, "promo/item"), (.destination, "//shop.example/x"),
        (.destination, "/"), (.destination, "myapp://" + String(repeating: "x", count: 2048)),
        // These URLs run code, read files or hide their destination.
        (.destination, "javascript:alert(1)"), (.destination, "JavaScript://x/%0aalert(1)"),
        (.destination, "data:text/html,x"), (.iosDestination, "file:///etc/passwd"),
        (.androidDestination, "intent://x#Intent;end"), (.destination, "blob:https://shop.example/x"),
        (.destination, "view-source://x"), (.destination, "https://shop.example@evil.example/x"),
        (.destination, "https://shop.example\\@evil.example/x"), (.destination, "https:// shop.example/x"),
        (.destination, "https://shop.example/\u{0}"), (.destination, "myapp://promo/\nx"),
        (.variants, "a 0 myapp://x"), (.variants, "a 10001 myapp://x"), (.variants, "a myapp://x"),
        (.variants, "a b 1 myapp://x"), (.variants, "a 1 javascript:x"), (.variants, "ä 1 myapp://x"),
        (.desktopURL, "http://shop.example/"), (.desktopURL, "javascript:alert(1)"),
        (.desktopURL, "//shop.example"), (.iosFallback, "itms-apps://apps.apple.com/app/id1"),
        (.androidFallback, "market://details?id=x"), (.huaweiFallback, "https://u:p@appgallery.huawei.com/"),
        (.previewImage, "data:image/png;base64,x"), (.previewTitle, String(repeating: "ğ", count: 251)),
        (.previewDescription, String(repeating: "x", count: 251)),
        (.title, String(repeating: "x", count: 256)), (.title, "a\nb"), (.title, "a\u{7f}"),
        (.campaignKey, String(repeating: "x", count: 256)), (.journeyID, String(repeating: "x", count: 256)),
        (.source, String(repeating: "x", count: 256)), (.utmSource, String(repeating: "x", count: 256)),
        (.metadata, "{\"a\":\"" + String(repeating: "ğ", count: 4096) + "\"}"), (.windowSeconds, "59"),
        (.windowSeconds, "2592001"), (.windowSeconds, "1h"), (.windowSeconds, "-60"),
        (.windowSeconds, "60.0"), (.windowSeconds, "99999999999999999999"), (.expiresAt, "tomorrow"),
        (.expiresAt, "2027-02-31T00:00:00Z"), (.maximumClicks, "0"), (.maximumClicks, "1000000001"),
        (.referralCode, "a b"), (.referralCode, String(repeating: "x", count: 65)), (.pasteboard, "yes"),
        (.qrForeground, "red"), (.qrForeground, "#12345g"), (.qrBackground, "#ffff"),
        (.qrErrorCorrection, "best"), (.tags, "a,b"), (.tags, String(repeating: "x", count: 65)),
        (.passedParameters, "a\u{1}"),
    ]

    @Test("keep their URLs if escapes make them longer than the limit")
    func longURLs() throws {
        var fields = LinkFields()
        let text = String(repeating: "ğ", count: 1000)
        fields.set(.destination, "/" + text)
        fields.set(.iosDestination, "myapp://promo/" + text)
        fields.set(.desktopURL, "https://shop.example/" + text)
        let settings = try Link.Settings(fields)
        #expect(settings.target != nil && settings.iosTarget != nil && settings.fallbacks.desktop != nil)
        #expect(Link.Settings(stored: settings.fields) == settings)
    }

    @Test("report all problems at once")
    func reportsAll() {
        var fields = LinkFields()
        fields.set(.destination, "myapp:///x")
        fields.set(.windowSeconds, "1")
        fields.set(.previewTitle, String(repeating: "x", count: 251))
        fields[.variants] = ["a 1 myapp://x", "a 2 myapp://y", "b"]
        let error = #expect(throws: FieldProblems.self) { try Link.Settings(fields) }
        let wrong = ["destination", "attribution_window_seconds", "variants", "variants", "preview_title"]
        #expect(error?.all.map(\.field) == wrong)
    }

    @Test("keep lists in order, each text once, up to a limit")
    func lists() throws {
        var fields = LinkFields()
        fields[.tags] = [" b ", "a", "b", "", "  "]
        #expect(try Link.Settings(fields).tags == ["b", "a"])
        fields[.tags] = (0...50).map { "t\($0)" }
        #expect(throws: FieldProblems.self) { try Link.Settings(fields) }
        fields = LinkFields()
        fields[.variants] = (0...20).map { "v\($0) 1 myapp://x" }
        #expect(throws: FieldProblems.self) { try Link.Settings(fields) }
    }

    @Test("are not read beyond the first entry too many of a list")
    func longLists() {
        var fields = LinkFields()
        fields[.variants] = (0...20).map { "v\($0) 1 myapp://x" } + ["b"]
        fields[.tags] = (0...50).map { "t\($0)" } + ["a,b"]
        let error = #expect(throws: FieldProblems.self) { try Link.Settings(fields) }
        #expect(error?.all.map(\.field) == ["variants", "tags"])
    }

    @Test("contain destinations in the form for clients: in ASCII, encoded")
    func encodes() throws {
        var fields = LinkFields()
        fields.set(.destination, "myapp://promo/yaz indirimi?a=ğ")
        fields.set(.iosDestination, "/ürün/1")
        let settings = try Link.Settings(fields)
        #expect(settings.target?.text == "myapp://promo/yaz%20indirimi?a=%C4%9F")
        #expect(settings.iosTarget?.text == "/%C3%BCr%C3%BCn/1")
    }

    @Test("have the right JSON type for each field")
    func kinds() {
        #expect(LinkField.allCases.filter(\.isList) == [.variants, .passedParameters, .tags])
        #expect(LinkField.allCases.filter { $0.kind == .number } == [.windowSeconds, .maximumClicks])
    }
}
