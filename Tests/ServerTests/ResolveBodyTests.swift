import Attribution
import HTTPServer
import Server
import Testing

private let token = "AQACAZkAAAAAAAGImaq7zN3u_2VVQoBE-p9yg4OqoBNX"
private let click = "clk_0000000000000g000000000001"
private let id = "6D92078A-8246-4BA4-AE5B-76104861E7DC"

private func read(
    _ body: String,
    type: String = "application/json",
    query: String? = nil,
    fields: [String: String] = [:]
) throws(APIError) -> ResolveBody {
    let all = fields.merging(["Content-Type": type]) { $1 }
    let request = Request(
        .post,
        path: "/v1/deferred-deeplink/resolve",
        query: query,
        fields: all.map { FieldLine(name: $0.key, value: $0.value) },
        body: Array(body.utf8)
    )
    return try ResolveBody(request)
}

@Suite("The body of a newer client's first launch")
struct ResolveBodyTests {
    @Test("the body is read member by member")
    func whole() throws {
        let request = try read(
            #"""
            {"fingerprint":"\#(hex.uppercased())",
             "signals":{"model":"iPhone","machine":"iPhone15,2","osVersion":"17.2",
                        "screen":{"width":390,"height":844},"scale":3,"timezone":"Europe/Istanbul","language":"tr",
                        "languages":["tr-TR","en"],"localizations":["en","tr"],"more":1},
             "install_id":"i-1","platform":"iOS","first_install_time":"2026-07-22T10:30:00.000Z",
             "referrer":"al=\#(token)&utm_source=instagram","pasteboard":"https://go.example/s?al=\#(click)",
             "token":"own","click_id":"\#(click)","idfa":"\#(id)","gaid":"\#(id)","unknown":{"deep":[true]}}
            """#
        )
        let evidence = request.evidence
        #expect(evidence.fingerprint == Fingerprint(hex: hex))
        var signals = NativeSignals(platform: .ios)
        signals.model = "iPhone"
        signals.machine = "iPhone15,2"
        signals.osVersion = "17.2"
        (signals.screenWidth, signals.screenHeight) = (390, 844)
        signals.scale = 3
        signals.timezone = "Europe/Istanbul"
        signals.language = "tr"
        signals.languages = ["tr-TR", "en"]
        #expect(evidence.signals == signals)
        #expect(evidence.references == ["own", click, token].compactMap { ClickReference($0) })
        #expect(
            evidence.idfa == AdvertisingID(id, as: .idfa) && evidence.gaid == AdvertisingID(id, as: .gaid)
        )
        #expect(request.localizations == ["en", "tr"])
        #expect(request.installID == InstallID("i-1") && request.platform == .ios)
        #expect(request.firstInstalledAt == Timestamp(iso8601: "2026-07-22T10:30:00.000Z"))
    }

    @Test(
        "the body needs only one value that can identify the launch",
        arguments: [
            #"{"fingerprint":"\#(hex)"}"#, #"{"signals":{}}"#, #"{"token":"x"}"#, #"{"click_id":"x"}"#,
            #"{"referrer":"utm_source=google-play&utm_medium=organic"}"#, #"{"pasteboard":"hello"}"#,
            #"{"idfa":"\#(id)","install_id":null,"signals":null,"token":"","unknown":7}"#,
            #"{"gaid":"00000000-0000-0000-0000-000000000000"}"#,
        ]
    )
    func accepts(body: String) throws { _ = try read(body) }

    @Test("the body is completed from the query and the header fields")
    func fields() throws {
        let request = try read(
            #"{"token":"own","idfa":"\#(id)"}"#,
            query: "token=\(token)&click_id=\(click)&idfa=00000000-0000-0000-0000-000000000001",
            fields: [
                "X-Install-Referrer": "al=other", "X-Install-ID": "i-2", "X-GAID": id.lowercased(),
                "X-IDFA": "junk",
            ]
        )
        let evidence = request.evidence
        #expect(evidence.references == ["own", token, click, "other"].compactMap { ClickReference($0) })
        #expect(
            evidence.idfa == AdvertisingID(id, as: .idfa) && evidence.gaid == AdvertisingID(id, as: .gaid)
        )
        #expect(request.installID == InstallID("i-2"))
        #expect(try read("{}", query: "click_id=\(click)").evidence.references.count == 1)
        let own = try read(#"{"token":"x","install_id":"i-1"}"#, fields: ["X-Install-ID": "i-2"])
        #expect(own.installID == InstallID("i-1"))
    }

    private static let long = String(repeating: "a", count: 5000)
    private static let refusals: [(body: String, code: APIError.Code, field: String)] = [
        ("{}", .missingRequiredField, "signals"),
        (#"{"install_id":"i-1","platform":"ios"}"#, .missingRequiredField, "signals"),
        (#"{"fingerprint":"abc"}"#, .invalidFingerprint, "fingerprint"),
        (#"{"signals":{},"install_id":"a b"}"#, .invalidField, "install_id"),
        (#"{"signals":{},"first_install_time":"1700000000"}"#, .invalidField, "first_install_time"),
        (#"{"idfa":"x"}"#, .invalidField, "idfa"), (#"{"gaid":"{gaid}"}"#, .invalidField, "gaid"),
        (#"{"signals":{"screen":{"width":0,"height":844}}}"#, .invalidField, "signals.screen.width"),
        (#"{"signals":{"screen":{"width":390,"height":1e9}}}"#, .invalidField, "signals.screen.height"),
        (#"{"signals":{"screen":"390x844"}}"#, .invalidField, "signals.screen"),
        (#"{"signals":{"scale":-3}}"#, .invalidField, "signals.scale"),
        (#"{"signals":{"scale":1e400}}"#, .invalidField, "signals.scale"),
        (#"{"signals":{"languages":["\#(long)"]}}"#, .invalidField, "signals.languages"),
        (#"{"signals":{"languages":[1]}}"#, .invalidField, "signals.languages"),
        (
            #"{"signals":{"languages":["a"\#(String(repeating: #","a""#, count: 100))]}}"#, .invalidField,
            "signals.languages"
        ),
        (
            #"{"signals":{"localizations":["a"\#(String(repeating: #","a""#, count: 1000))]}}"#,
            .invalidField,
            "signals.localizations"
        ),
    ]

    @Test("a body is refused with the name of the wrong member", arguments: refusals)
    func refuses(body: String, code: APIError.Code, field: String) {
        let error = #expect(throws: APIError.self) { try read(body) }
        #expect(error?.code == code && error?.field == field)
        #expect((error?.message.count ?? 0) > 20)
    }

    @Test(
        "a body is refused if a member has the wrong type or is too long",
        arguments: [
            "token", "click_id", "referrer", "pasteboard", "idfa", "gaid", "install_id", "platform",
            "first_install_time", "signals.model", "signals.machine", "signals.osVersion", "signals.timezone",
            "signals.language",
        ]
    )
    func types(member: String) {
        let path = member.split(separator: ".")
        for value in ["7", "[]", "{}", "true", "\"\(Self.long)\""] {
            let nested =
                path.dropFirst().reduce(#"{"token":"t","\#(path[0])":"#) { $0 + #"{"\#($1)":"# } + value
            let body = (nested + String(repeating: "}", count: path.count))
                .replacing(#""token":"t","token""#, with: #""token""#)
            let error = #expect(throws: APIError.self) { try read(body) }
            #expect(error?.code == .invalidField && error?.field == member)
        }
    }

    @Test(
        "the body must be a JSON object, with a media type that pages cannot send without a preflight",
        arguments: ["[]", "", "{", #"{"a":1,"a":2}"#]
    )
    func noObject(body: String) {
        let error = #expect(throws: APIError.self) { try read(body) }
        #expect(error?.code == .invalidJSON)
        let type = #expect(throws: APIError.self) { try read(#"{"token":"x"}"#, type: "text/plain") }
        #expect(type?.code == .unsupportedMediaType)
    }

    @Test("wrong query items and header fields never make a released client's launch fail")
    func released() throws {
        let request = Request(
            .get,
            path: "/v1/deferred-deeplink",
            query: "fingerprint=\(hex)&idfa=\(id)&gaid=%zz&token=&click_id",
            fields: [FieldLine(name: "x-idfa", value: id), FieldLine(name: "X-GAID", value: "")]
        )
        var evidence = LaunchEvidence()
        LaunchFields.add(request, to: &evidence)
        var expected = LaunchEvidence()
        expected.idfa = AdvertisingID(id, as: .idfa)
        #expect(evidence == expected)
        var nothing = LaunchEvidence()
        LaunchFields.add(Request(.get, path: "/"), to: &nothing)
        #expect(nothing.isEmpty)
    }
}
