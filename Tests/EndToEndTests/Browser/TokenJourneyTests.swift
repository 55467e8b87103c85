import Attribution
import Foundation
import Support
import Testing

extension BrowserJourneys {
    @Suite("The ways of a click's token to the first launch")
    struct Tokens {
        /// Sends the check of a first launch with a token, as an app does.
        private func launch(_ evidence: [String: String], fields: [String: String] = [:]) throws
            -> HTTPTestClient.Reply
        {
            let stage = try LinkStage.current
            let body = try JSONSerialization.data(withJSONObject: evidence)
            let usual = [
                "Content-Type": "application/json", "Authorization": "Bearer \(stage.installation.keys.app)",
            ]
            return try stage.connect().call(
                "POST",
                HTTPTestClient.prefix + "/resolve",
                fields: usual.merging(fields) { $1 },
                body: String(decoding: body, as: UTF8.self)
            )
        }

        private func expectSure(_ reply: HTTPTestClient.Reply, _ slug: String) {
            #expect(reply.isMatch && reply.json["guaranteed"] as? Bool == true, "\(reply.text)")
            #expect(reply.string("attributionMethod") == "signed_token")
            #expect(reply.string("campaignKey") == slug)
        }

        private func parameter(_ name: String, of url: String) throws -> String {
            let query = url.split(separator: "?", maxSplits: 1).last?.prefix { $0 != "#" } ?? ""
            return try #require(QueryItem.value(of: name, inQuery: String(query)))
        }

        private var iPhone: BrowserVisitor { get throws { try Journey.named("safari").visitor } }

        @Test(
            "Google's store passes the token to a new app, if opened by Chrome, or by Firefox, which reveals no model",
            arguments: [
                ("play", "", true),
                ("firefox", "Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0", false),
            ]
        )
        func playStore(slug: String, agent: String, isChrome: Bool) throws {
            let link = try LinkStage.current.link(slug, #","utm_source":"mail","utm_campaign":"a b""#)
            var visitor = try Journey.named("chrome").moved(to: "Asia/Colombo").visitor
            if !isChrome {
                visitor.agent = agent
                visitor.hints = nil
                visitor.script = "delete Navigator.prototype.userAgentData;"
            }
            visitor.script += BrowserVisitor.endlessTimers
            let tab = try link.visit(by: visitor)
            defer { tab.close() }
            try tab.open(link.url)
            let intent = try #require(try tab.leaving(to: "intent:").url)
            // Android opens this address for an intent without an app.
            let fallback = try #require(
                intent.split(separator: ";").first { $0.hasPrefix("S.browser_fallback_url=") }
            ).split(separator: "=", maxSplits: 1)[1]
            let store = try #require(String(fallback).removingPercentEncoding)
            #expect(store.hasPrefix(LinkStage.playStore + "&referrer=al%3D"))
            let referrer = try parameter("referrer", of: store)
            #expect(referrer.hasSuffix("&utm_source=mail&utm_campaign=a%20b"), "\(referrer)")
            let reply =
                isChrome
                ? try launch([:], fields: ["X-Install-Referrer": referrer])
                : try launch(["referrer": referrer])
            expectSure(reply, slug)
        }

        @Test(
            "the pasteboard has the token after a tap on the store's button, if the link opted in",
            arguments: [
                ("paste", "safari", ""),
                // A computer would go on at once to the link's page for computers.
                ("pastepad", "ipaddesktop", #","desktop_url":"\#(LinkStage.origin)/about""#),
            ]
        )
        func pasteboard(slug: String, journey: String, fields: String) throws {
            let link = try LinkStage.current.link(slug, #","pasteboard":true"# + fields)
            let tab = try link.visit(by: Journey.named(journey).visitor)
            defer { tab.close() }
            try tab.grant(["clipboardReadWrite", "clipboardSanitizedWrite"], to: LinkStage.origin)
            try tab.call("Emulation.setFocusEmulationEnabled", ["enabled": true])
            try tab.open(link.url)
            let token = try #require(try tab.click().token)
            try tab.outwait()
            #expect(tab.destinations.isEmpty, "the page waits for a tap")
            // The clipboard may have the text of an earlier visit.
            #expect(try !tab.value(of: "navigator.clipboard.readText()").contains("al=\(token)"))
            try tab.tap("store")
            _ = try tab.leaving(to: LinkStage.appStore)
            var copied = ""
            let isCopied = try Polling.until {
                copied = try tab.value(of: "navigator.clipboard.readText()")
                return copied.contains(token)
            }
            #expect(isCopied && copied == "\(link.url)?al=\(token)")
            expectSure(try launch(["pasteboard": copied]), slug)
        }

        @Test("the app's scheme passes the token and the link's listed parameters to an installed app")
        func ownScheme() throws {
            let link = try LinkStage.current.link("scheme", #","pass_parameters":["gclid"]"#)
            let tab = try link.visit(by: iPhone)
            defer { tab.close() }
            try tab.open(link.url + "?gclid=a%26b&evil=1#reviews")
            let token = try #require(try tab.click().token)
            _ = try tab.leaving(to: LinkStage.appStore)
            try tab.tap("open")
            let opened = try #require(try tab.leaving(to: "shopapp:").url)
            #expect(opened == "shopapp://promo/scheme?gclid=a%26b&al=\(token)#reviews")
            expectSure(try launch(["token": try parameter("al", of: opened)]), "scheme")
        }

        @Test("the code on a computer's screen passes the token to the phone, whose scan is another click")
        func code() throws {
            let stage = try LinkStage.current
            let link = try stage.link("desk")
            let tab = try link.visit(by: .computer)
            defer { tab.close() }
            try tab.open(link.url + "?utm_medium=poster")
            let token = try #require(try tab.click().token)
            let picture = try tab.event("Network.requestWillBeSent") {
                $0.url?.contains("al=\(token)") == true
            }
            _ = try tab.event("Network.loadingFinished") {
                $0.string("requestId") == picture.string("requestId")
            }
            try tab.value(of: "document.getElementById('code').decode().then(() => '')")
            #expect(try tab.buttons() == "copy")
            // The camera reads the code.
            let scanned = try #require(try QRReader.text(of: try tab.screenshot()))
            #expect(scanned == "\(link.url)?source=qr&al=\(token)&utm_medium=poster")

            // A phone without the app continues to the store, and its fingerprint matches.
            let journey = try Journey.named("safari").moved(to: "Asia/Tashkent")
            let phone = try link.visit(by: journey.visitor)
            defer { phone.close() }
            try phone.open(scanned)
            #expect(try phone.click().status == 201)
            _ = try phone.leaving(to: LinkStage.appStore)
            #expect(try link.clicks().map(\.source) == ["direct", "qr"])
            let found = try stage.launch(on: journey.phone, hashing: .c)
            #expect(found.isMatch && found.string("url")?.contains("source=qr") == true, "\(found.text)")
            // On a phone with the app, the scanned link opens the app and passes the token.
            expectSure(try launch(["token": try parameter("al", of: scanned)]), "desk")
        }
    }
}
