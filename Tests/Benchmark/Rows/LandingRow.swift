import Support

/// What opening a link costs: its page for a phone and for a computer, and the codes.
enum LandingRow: Row {
    static let name = "landing"
    static let summary = "the page of a link and its codes"
    private static let computer =
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"

    private static let asked: [(target: String, agent: String, figure: FigureName)] = [
        (
            "/summer25?utm_source=mail", SampleDevice.iphone.userAgent,
            FigureName(
                "landing_page_iphone_core_microseconds",
                "a link's page for an iPhone, µs of a core",
                .below(1000)
            )
        ),
        (
            "/summer25", SampleDevice.android.userAgent,
            FigureName("landing_page_android_core_microseconds", "the same for an Android", .below(1000))
        ),
        (
            "/summer25", computer,
            FigureName("landing_page_computer_core_microseconds", "the same for a computer", .below(1000))
        ),
        (
            "/summer25?al_go=code", computer,
            FigureName("hand_over_code_core_microseconds", "the code on a computer's page, µs of a core")
        ),
        ("/summer25/qr.svg", computer, FigureName("qr_svg_core_microseconds", "qr.svg, µs of a core")),
        ("/summer25/qr.png", computer, FigureName("qr_png_core_microseconds", "qr.png, µs of a core")),
    ]

    static func measure(_ bench: Workbench) throws -> [Figure] {
        let installation = try bench.installation(.live(bench.scale.liveClicks))
        try installation.configure([
            "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp", "--ios-store-id",
            "1234567890", "--android-scheme", "shopapp", "--android-package", "com.example.shop",
        ])
        try installation.configure(["links", "create", "summer25", "--destination", "/promo/summer"])
        let server = try Server(installation, bench, extra: ["--rate-limit-pictures", "off"])
        let turns = try bench.interleaved(
            asked.map { target, agent, _ in
                let wrk = Wrk(.page(target, host: "go.shop.example", agent: agent), connections: 1)
                return { try wrk.turn(server, $0 / 2) }
            }
        )
        return [
            FigureName("landing_page_p99_microseconds", "p99 of a link's page for an iPhone, µs")
                .figure(turns[0].map(\.result.p99))
        ] + zip(asked, turns).map { $0.figure.figure($1.map(\.coreMicroseconds)) }
    }
}
