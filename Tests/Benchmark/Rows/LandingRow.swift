import Support

/// What opening a link costs: its page for a phone and for a computer, and the codes.
enum LandingRow {
    private static let iPhone = SampleDevice.iphone.userAgent
    private static let computer =
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let installation = try bench.installation(.live(bench.scale.liveClicks))
        try installation.configure([
            "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp",
            "--ios-store-id", "1234567890", "--android-scheme", "shopapp",
            "--android-package", "com.example.shop",
        ])
        try installation.configure(["links", "create", "summer25", "--destination", "/promo/summer"])
        let server = try Server(installation, bench, extra: ["--rate-limit-pictures", "off"])
        let asked: [(target: String, agent: String)] = [
            ("/summer25?utm_source=mail", iPhone), ("/summer25", SampleDevice.android.userAgent),
            ("/summer25", computer), ("/summer25?al_go=code", computer), ("/summer25/qr.svg", computer),
            ("/summer25/qr.png", computer),
        ]
        let turns = try bench.interleaved(
            asked.map { target, agent in
                let wrk = Wrk(script: .page(target, host: "go.shop.example", agent: agent), connections: 1)
                return { try wrk.turn(port: server.port, of: server.figures, seconds: $0 / 2, bench) }
            }
        )
        let names: [FigureName] = [
            .iPhonePageMicroseconds, .androidPageMicroseconds, .computerPageMicroseconds,
            .handOverCodeMicroseconds, .vectorCodeMicroseconds, .rasterCodeMicroseconds,
        ]
        return [Figure(.iPhonePageTailMicroseconds, turns[0].map(\.result.p99))]
            + zip(names, turns).map { name, turns in Figure(name, turns.map(\.coreMicroseconds)) }
    }
}
