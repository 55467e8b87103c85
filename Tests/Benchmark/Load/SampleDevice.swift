/// A kind of device for sample clicks, whose browser reports common values in many combinations.
enum SampleDevice: String, CaseIterable {
    case iphone = "iPhone"
    case android = "Android"

    /// The lists of values from which the bodies are made, in Lua.
    static let lists = """
        local zones = { "Europe/Istanbul", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "America/Sao_Paulo",
            "Europe/London", "Asia/Jakarta", "America/Mexico_City", "Europe/Paris", "Asia/Tokyo", "Africa/Cairo" }
        local languages = { "tr-TR", "en-US", "de-DE", "fr-FR", "es-ES", "pt-BR", "ar", "ja-JP", "hi-IN", "it-IT" }
        local systems = { "26.1", "26.0", "18.7", "18.6", "18.5", "18.3", "17.7", "17.6", "16.7", "15.8" }
        local screens = { { 390, 844, 3 }, { 393, 852, 3 }, { 375, 812, 3 }, { 414, 896, 2 }, { 430, 932, 3 },
            { 428, 926, 3 }, { 375, 667, 2 }, { 402, 874, 3 } }
        """

    /// The browser's user agent, which the values of the body must not contradict.
    var userAgent: String {
        switch self {
        case .iphone:
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
                + "Version/18.6 Mobile/15E148 Safari/604.1"
        case .android:
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile "
                + "Safari/537.36"
        }
    }

    /// A click's body, with a placeholder for each value that differs from device to device.
    private var format: String {
        let link = SampleRequests.linkMembers
        return switch self {
        case .iphone:
            #"{"platform":"ios",\#(link),"signals":{"model":"iPhone","osVersion":"%s","screenWidth":%d,"#
                + #""screenHeight":%d,"pixelRatio":%d,"timezone":"%s","language":"%s","languages":["%s"],"#
                + #""touchPoints":5}}"#
        case .android:
            #"{"platform":"android",\#(link),"signals":{"uaModel":"SM-A%d","uaPlatformVersion":"14.0.0","#
                + #""screenWidth":384,"screenHeight":854,"pixelRatio":2.8125,"timezone":"%s","language":"%s","#
                + #""languages":["%s"],"touchPoints":5}}"#
        }
    }

    /// A click's body as an expression of Lua.
    var body: String {
        let values =
            switch self {
            case .iphone: "pick(systems), s[1], s[2], s[3], pick(zones), l, l"
            case .android: "math.random(100, 499), pick(zones), l, l"
            }
        return """
            (function()
                local s, l = pick(screens), pick(languages)
                return string.format('\(format)', \(values))
            end)()
            """
    }

    /// A body as the Lua script makes it.
    var example: String {
        let values =
            switch self {
            case .iphone: ["18.6", "390", "844", "3", "Europe/Istanbul", "tr-TR", "tr-TR"]
            case .android: ["515", "Europe/Istanbul", "tr-TR", "tr-TR"]
            }
        let parts = format.split(separator: /%[sd]/, omittingEmptySubsequences: false)
        return zip(parts, values + [""]).map { $0 + $1 }.joined()
    }
}
