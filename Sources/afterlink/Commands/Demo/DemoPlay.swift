internal import Attribution
internal import HTTPServer
internal import Server

/// The demo's scenes in order: click, wrong key, first launch, second launch, statistics.
struct DemoPlay {
    let listenAddress: ListenAddress
    let keys: DemoKeys

    private static let link = "myapp://promo/summer"
    /// What the app's SDK hashes on the phone whose browser sends ``ClientRequest/click(link:host:)``.
    private static let fingerprint = Fingerprint(of: "iPhone|17.2|390x844|Europe/Istanbul|tr").hex

    /// - Throws: what was not as it should be.
    func run() throws {
        try click()
        try wrongKey()
        try firstLaunch()
        try secondLaunch()
        try statistics()
        Console.print("\nAll of it was right: one click, one match, and no second one.")
    }

    private func click() throws {
        let scene = try play(
            "A person taps a campaign link. The landing page posts what the browser knows of the phone.",
            .click(link: Self.link, host: "\(listenAddress)")
        )
        try scene.expect(status: 201)
        try scene.expect("status", "success")
        try scene.expect("fingerprint", Self.fingerprint)
    }

    private func wrongKey() throws {
        let scene = try play(
            "Somebody asks with a key that is none: refused, and the click stays.",
            .check(fingerprint: Self.fingerprint, key: "app_wrong", host: "\(listenAddress)")
        )
        try scene.expect(status: 401)
        try scene.expect("error_code", "INVALID_API_KEY")
    }

    private func firstLaunch() throws {
        let scene = try play(
            "The app was installed and starts for the first time. Its SDK hashes what it knows, and asks.",
            .check(fingerprint: Self.fingerprint, key: keys.app, host: "\(listenAddress)")
        )
        try scene.expect(status: 200)
        try scene.expect("status", "match")
        try scene.expect("campaignKey", "SUMMER25")
        try scene.expect("url", beginsWith: Self.link)
        try scene.expect("url", contains: "source=instagram")
    }

    private func secondLaunch() throws {
        let scene = try play(
            "The app is deleted, installed again, and asks again. The click was used up by the first launch."
                + "\n   (The demo serves with --replay-grace 0. By default, the same phone would have the same answer"
                + "\n   again for 60 s, in case the first one was lost on its way.)",
            .check(fingerprint: Self.fingerprint, key: keys.app, host: "\(listenAddress)")
        )
        try scene.expect(status: 200)
        try scene.expect("status", "no_match")
    }

    private func statistics() throws {
        let scene = try play(
            "The operator looks at the statistics.",
            .statistics(key: keys.admin, host: "\(listenAddress)"),
            showing: "totals"
        )
        try scene.expect(status: 200)
        for (name, count) in [("clicks", 1), ("checks", 2), ("matches", 1), ("no_matches", 1)] {
            try scene.expect(total: name, Int64(count))
        }
    }

    /// Sends a request, shows it with its answer, and gives the answer back for a closer look.
    private func play(
        _ sentence: String,
        _ request: ClientRequest,
        showing member: String? = nil
    ) throws -> DemoScene {
        Console.print("\n── \(sentence)\n")
        Console.print(request.shown)
        let bytes = try attempt {
            try ClientConnection(to: listenAddress).exchange(Array(request.text.utf8))
        } orElse: { (error: SystemError) in
            DemoScene.failure("there was no answer: \(error.text)")
        }
        guard let answer = ClientResponse(bytes) else {
            throw DemoScene.failure("the answer was no HTTP")
        }
        let scene = DemoScene(answer)
        Console.print(scene.shown(member))
        return scene
    }
}
