import Support

extension Row {
    /// The cost of a link's page for a phone and for a computer, and of its QR codes.
    static let landing = Row("landing", "the page of a link and its codes") { bench in
        let installation = try bench.installation(.live(bench.scale.liveClicks))
        try installation.configure([
            "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp", "--ios-store-id",
            "1234567890", "--android-scheme", "shopapp", "--android-package", "com.example.shop",
        ])
        try installation.configure(["links", "create", "summer25", "--destination", "/promo/summer"])
        let server = try Server(installation, bench, extra: ["--rate-limit-pictures", "off"])
        let tail = FigureName("landing_page_p99_microseconds", "p99 of a link's page for an iPhone, µs")
        return pages.map { target, browser, name, title in
            let isPage = name.hasPrefix("landing")
            let core = FigureName(
                "\(name)_core_microseconds",
                "\(title), µs of a core",
                isPage ? .below(1000) : nil
            )
            let page = WrkScript.page(target, host: "go.shop.example", agent: browser?.userAgent ?? computer)
            return Contest(names: browser == .iphone ? [core, tail] : [core]) { seconds in
                let turn = try Wrk(page, connections: 1).turn(server, seconds / 2)
                return [turn.coreMicroseconds, turn.result.p99]
            }
        }
    }

    private static let computer =
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"

    /// The requests of the row; a nil browser means the browser of a computer.
    private static let pages: [(target: String, browser: SampleDevice?, name: String, title: String)] = [
        ("/summer25?utm_source=mail", .iphone, "landing_page_iphone", "a link's page for an iPhone"),
        ("/summer25", .android, "landing_page_android", "the same for an Android"),
        ("/summer25", nil, "landing_page_computer", "the same for a computer"),
        ("/summer25?al_go=code", nil, "hand_over_code", "the code on a computer's page"),
        ("/summer25/qr.svg", nil, "qr_svg", "qr.svg"), ("/summer25/qr.png", nil, "qr_png", "qr.png"),
    ]
}
