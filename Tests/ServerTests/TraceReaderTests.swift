import Attribution
import Server
import Simulation
import Testing
import Storage

private let agent =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Mobile/15E148 Safari/604.1"

private func serverKey() throws -> ServerKey {
    try #require(ServerKey(bytes: [UInt8](repeating: 7, count: ServerKey.byteCount)))
}

/// Returns the hash by which a trace's fingerprints are compared.
private func keyed(_ text: String) throws -> UInt64 { try serverKey().keyed(Fingerprint(of: text)).index }

private func read(_ text: String, chunk: Int = .max) throws -> [RecordedEvent] {
    var reader = TraceReader(key: try serverKey())
    var events: [RecordedEvent] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        reader.append(rest.prefix(chunk))
        rest = rest.dropFirst(chunk)
        while let event = try reader.next() { events.append(event) }
    }
    reader.end()
    while let event = try reader.next() { events.append(event) }
    return events
}

private func click(_ members: String) throws -> RecordedClick {
    let events = try read(#"{"event":"click","at":1000,\#(members)}"#)
    guard events.count == 1, case .click(let click) = events[0] else { throw NoSuchEvent() }
    return click
}

private func launch(_ members: String) throws -> RecordedLaunch {
    let events = try read(#"{"event":"launch","at":1000,\#(members)}"#)
    guard events.count == 1, case .launch(let launch) = events[0] else { throw NoSuchEvent() }
    return launch
}

private struct NoSuchEvent: Error {}

@Suite("Traces")
struct TraceReaderTests {
    @Test("are read in pieces of any size, with or without a final line feed, and without their blank lines")
    func pieces() throws {
        let lines = [
            #"{"event":"click","at":"2026-09-21T14:13:46.014Z","id":1,"fingerprint":"\#(hex)"}"#, "", "  \r",
            #"{"event":"launch","at":1790000026014,"fingerprint":"\#(hex)","truth":{"click":"1"}}"#,
        ]
        let text = lines.joined(separator: "\n")
        let whole = try read(text)
        #expect(whole.count == 2)
        #expect(whole[0].at.milliseconds == 1_790_000_026_014)
        #expect(whole[1].at == whole[0].at)
        for size in [1, 2, 7, 100] { #expect(try read(text + "\n", chunk: size) == whole) }
    }

    @Test("name a click's fingerprints by a browser's words, the device's own, or as the client hashes them")
    func clicks() throws {
        let values = #""timezone":"Europe/Istanbul","language":"tr""#
        let browser = try click(
            #""id":"a","user_agent":"\#(agent)","signals":{"model":"iPhone","osVersion":"17.2","screenWidth":390,"screenHeight":844,"pixelRatio":3,\#(values)}"#
        )
        let device = try click(
            #""id":"b","device":{"model":"iPhone","osVersion":"17.2","screen":{"width":390,"height":844},"scale":3,\#(values)}"#
        )
        let formD = try keyed("iPhone|Europe/Istanbul|tr")
        for click in [browser, device] {
            #expect(click.platform == .ios)
            #expect(click.fingerprints.contains { $0.key == formD && $0.form == .d && $0.weight == 1 })
            let formA = try keyed("iPhone|17.2|390x844|Europe/Istanbul|tr")
            #expect(click.fingerprints.contains { $0.key == formA && $0.form == .a })
            #expect(click.fingerprints.first?.release == OSRelease(platform: .ios, major: 17, minor: 2))
            // The width of the panel, which form D does not contain.
            #expect(click.signals.components == [.width, .screen])
        }
        let ready = try click(#""fingerprint":"\#(hex)""#)
        #expect(ready.name == nil)
        let own = try serverKey().keyed(#require(Fingerprint(hex: hex))).index
        #expect(ready.fingerprints == [RecordedFingerprint(key: own, form: nil)])
    }

    @Test("tell a click's window, destination, campaign, address, visitor and whether it is a robot's")
    func clickFacts() throws {
        func fact(_ members: String) throws -> RecordedClick {
            try click(#""fingerprint":"\#(hex)",\#(members)"#)
        }
        let one = try fact(
            #""deeplink_url":"myapp://a","campaign_key":"C","ip_address":"203.0.113.7","user_agent":"x","attribution_window_seconds":600,"more":{"a":[1]}"#
        )
        #expect(one.window == AttributionWindow(seconds: 600))
        #expect(try fact(#""deeplink_url":"myapp://a","campaign_key":"C""#).destination == one.destination)
        #expect(
            try fact(#""deeplink_url":"myapp://b","campaign_key":"C""#).destination.campaign
                == one.destination.campaign
        )
        #expect(try fact(#""deeplink_url":"myapp://b","campaign_key":"C""#).destination != one.destination)
        #expect(try fact(#""deeplink_url":"myapp://a""#).destination.campaign == 0)
        let near = try fact(#""ip_address":"203.0.113.8","user_agent":"x""#)
        #expect(near.address?.near == one.address?.near && near.address?.exact != one.address?.exact)
        #expect(near.visitor != one.visitor)
        #expect(try fact(#""ip_address":"203.0.113.7","user_agent":"x""#).visitor == one.visitor)
        let six = try fact(#""ip_address":"2001:db8:1:2::3""#)
        #expect(try fact(#""ip_address":"2001:db8:1:2:9::""#).address == six.address)
        #expect(try fact(#""ip_address":"2001:db8:1:3::""#).address?.near == six.address?.near)
        for text in ["127.0.0.1", "10.1.2.3", "100.64.0.1", "::1"] {
            #expect(try fact(#""ip_address":"\#(text)""#).address == nil)
        }
        #expect(try fact(#""user_agent":"WhatsApp/2.23.20.0""#).isRobot)
        #expect(!one.isRobot)
    }

    @Test("tell what a launch hashed, its system, its token and the truth")
    func launches() throws {
        let text = "iPhone|Europe/Istanbul|tr"
        let key = try keyed(text)
        #expect(try launch(#""fingerprint_input":"\#(text)""#).fingerprints == [key])
        #expect(try launch(#""fingerprint":"\#(Fingerprint(of: text).hex)""#).fingerprints == [key])
        let device =
            #""device":{"model":"iPhone","osVersion":"17.2","screen":{"width":390,"height":844},"scale":3,"timezone":"Europe/Istanbul","language":"tr"}"#
        #expect(try launch(device + #","form":"D""#).fingerprints == [key])
        #expect(try launch(device + #","form":"D""#).signals.isEmpty)
        // A launch without a form is a newer client's, which sends values: the form with the fewest components finds clicks.
        let all = try launch(device)
        #expect(all.fingerprints.count == 4)
        #expect(all.fingerprints.first == key)
        #expect(all.signals.components == [.width, .screen])
        let beside = try launch(device + #","fingerprint_input":"\#(text)""#)
        #expect(beside.fingerprints == [key])
        #expect(beside.signals == all.signals)
        let told = try launch(
            #""fingerprint":"\#(hex)","user_agent":"A/1 CFNetwork/1 Darwin/24.1.0","install_id":"i","token":"c""#
        )
        #expect(told.release == OSRelease(platform: .ios, major: 18, minor: 1))
        #expect(told.hasInstallID)
        #expect(told.token == RecordedEvent.hash("c"))
        #expect(told.truth == nil)
        func truth(_ value: String) throws -> RecordedLaunch.Truth? {
            try launch(#""token":1,"truth":\#(value)"#).truth
        }
        #expect(try truth(#""organic""#) == .organic)
        #expect(try truth(#""reinstall""#) == .reinstall)
        #expect(try truth(#""retry""#) == .retry)
        #expect(try truth("null") == nil)
        for value in ["17", #""17""#, #"{"click":17}"#, #"{"click":"17"}"#] {
            #expect(try truth(value) == .click(RecordedEvent.hash("17")))
        }
    }

    @Test("are the same caller's launches only with the same fingerprint, address and agent, or install id")
    func callers() throws {
        let one = try launch(#""fingerprint":"\#(hex)","ip_address":"203.0.113.7","user_agent":"x""#)
        #expect(
            try launch(#""fingerprint":"\#(hex)","ip_address":"203.0.113.7","user_agent":"x""#).caller
                == one.caller
        )
        for other in [
            #""ip_address":"203.0.113.8","user_agent":"x""#, #""ip_address":"203.0.113.7","user_agent":"y""#,
        ] { #expect(try launch(#""fingerprint":"\#(hex)",\#(other)"#).caller != one.caller) }
        let install = try launch(#""token":1,"install_id":"i""#).caller
        #expect(try launch(#""token":2,"install_id":"i","user_agent":"z""#).caller == install)
    }

    @Test(
        "are refused with the line and what is wrong with it",
        arguments: [
            ("nonsense", "a byte that JSON does not allow at this position (at byte 1)"),
            ("[]", "A line must be a JSON object"),
            (#"{"event":"tap","at":1}"#, "event must be \"click\" or \"launch\""),
            (#"{"event":"click","fingerprint":"x"}"#, "at must be a moment such as"),
            (#"{"event":"click","at":"yesterday"}"#, "at must be a moment such as"),
            (#"{"event":"click","at":1}"#, "a click needs fingerprint, signals or device"),
            (
                #"{"event":"click","at":1,"signals":{"timezone":"UTC"}}"#,
                "no fingerprint can be made; missing"
            ),
            (#"{"event":"click","at":1,"fingerprint":"x"}"#, "fingerprint must be 64 hexadecimal digits"),
            (#"{"event":"click","at":1,"id":1,"ip_address":"here"}"#, "ip_address is not an IPv4 or IPv6"),
            (
                #"{"event":"click","at":1,"id":1,"attribution_window_seconds":5}"#,
                "must lie between 60 and 2592000"
            ),
            (
                #"{"event":"click","at":1,"id":{}}"#,
                "id must be a text of at most 255 characters, or a whole number"
            ),
            (
                #"{"event":"click","at":1,"id":1,"signals":{"screenWidth":"390"}}"#,
                "signals.screenWidth must be a number"
            ),
            (#"{"event":"launch","at":1}"#, "a launch needs fingerprint, fingerprint_input, device or token"),
            (
                #"{"event":"launch","at":1,"device":{"model":"iPhone"},"form":"E"}"#,
                "form must be one of A, B, C, D"
            ),
            (
                #"{"event":"launch","at":1,"device":{"model":"iPhone"},"form":"D"}"#,
                "lacks a value that form D needs"
            ),
            (
                #"{"event":"launch","at":1,"token":1,"truth":{"clik":1}}"#,
                "truth.click must be the id of a click"
            ),
            (#"{"event":"launch","at":1,"token":1,"truth":true}"#, "truth must be a text"),
            (#"{"event":"launch","at":0,"token":1}"#, "at is earlier than in the event before"),
            (#"{"event":"click","at":1,"id":"a"}"#, "id stands in an earlier click already"),
        ]
    )
    func refused(line: String, reason: String) throws {
        let text = #"{"event":"click","at":1,"id":"a"}"# + "\n\n" + line + "\n" + line
        let error = try #require(throws: TraceError.self) { try read(text) }
        #expect(error.line == 3)
        #expect(error.message.hasPrefix("line 3: "))
        #expect(error.reason.contains(reason))
    }

    @Test("are refused at a line that is too long, before it has come whole")
    func longLines() throws {
        let fitting = #"{"event":"click","at":1,"id":1,"more":""#
        let rest = TraceReader.longestLine - fitting.utf8.count - 2
        #expect(try read(fitting + String(repeating: "x", count: rest) + "\"}\n").count == 1)
        let long = fitting + String(repeating: "x", count: rest + 1) + "\"}"
        #expect(throws: TraceError.self) { try read(long) }
        #expect(throws: TraceError.self) { try read(long, chunk: 1000) }
        var reader = TraceReader(key: try serverKey())
        reader.append([UInt8](repeating: 0x20, count: TraceReader.longestLine + 1))
        #expect(try #require(throws: TraceError.self) { try reader.next() }.line == 1)
    }

    @Test("of a simulated world, in a browser's words, lead to the same figures as its events themselves")
    func simulated() throws {
        var world = Worlds.turkey(1500)
        world.days = 2
        world.tokens = 0.2
        let events = TraceGenerator.events(of: world, seed: 11)
        let direct = Replay.played(events, ReplayPlan()).score
        var replay = Replay(ReplayPlan(), began: TraceGenerator.beginning)
        for event in try read(events.map(\.json).joined(separator: "\n")) { replay.play(event) }
        let traced = replay.score
        #expect(traced.launches == direct.launches)
        #expect(traced.knownLaunches == direct.launches)
        #expect(traced.conversions == direct.conversions)
        #expect(traced.tokenMatches == direct.tokenMatches)
        // The weights of patch releases come from a table that the simulated world does not use.
        #expect(abs(traced.matches - direct.matches) <= direct.matches / 50)
        #expect(abs(try #require(traced.precision) - #require(direct.precision)) <= 0.02)
        #expect(abs(try #require(traced.found) - #require(direct.found)) <= 0.02)
        #expect(abs(traced.expected / direct.expected - 1) <= 0.03)
    }
}
