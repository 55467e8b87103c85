import Attribution

extension Journey {
    private static let view = "AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0"

    static let android = [
        Journey(
            name: "chrome",
            title: "Galaxy A54, Chrome, which reveals the model only on request, Hindi, in Kolkata",
            visitor: .android(
                "SM-A546E",
                "14.0.0",
                (384, 832),
                2.8125,
                ["hi-IN", "hi", "en-IN", "en"],
                "Asia/Calcutta"
            ).saying(
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
                    + "Chrome/126.0.0.0 Mobile Safari/537.36"
            ),
            signals:
                "android; model=SM-A546E; os=14.0.0; screen=384x832; scale=2.8125; timezone=Asia/Kolkata; "
                + "given=Asia/Calcutta; languages=hi,en",
            next: .intent,
            buttons: "store,open",
            phone: Handset("SM-A546E", "14", width: "1080", in: "Asia/Kolkata", language: "hi"),
            form: .c
        ),
        Journey(
            name: "facebook",
            title: "Pixel 8, Facebook's in-app browser, Portuguese, in São Paulo",
            visitor: .android("Pixel 8", "14.0.0", (412, 915), 2.625, ["pt-BR", "pt"], "America/Sao_Paulo")
                .saying(
                    "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240905.003; wv) \(view) "
                        + "Chrome/130.0.6723.83 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/488.0.0.62.79;IABMV/1;]"
                ),
            signals:
                "android; model=Pixel 8; os=14.0.0; screen=412x915; scale=2.625; timezone=America/Sao_Paulo; languages=pt",
            next: .intent,
            buttons: "store,open,browser",
            phone: Handset("Pixel 8", "14", width: "1080", in: "America/Sao_Paulo", language: "pt"),
            form: .c
        ),
        Journey(
            name: "samsung",
            title: "Galaxy S23, Samsung Internet, Arabic, in Cairo",
            visitor: .android("SM-S911B", "14.0.0", (360, 780), 3, ["ar-EG", "ar"], "Africa/Cairo").saying(
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
                    + "SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36"
            ),
            signals:
                "android; model=SM-S911B; os=14.0.0; screen=360x780; scale=3.0; timezone=Africa/Cairo; languages=ar",
            next: .intent,
            buttons: "store,open",
            phone: Handset("SM-S911B", "14", width: "1080", in: "Africa/Cairo", language: "ar"),
            form: .c,
            isRightToLeft: true
        ),
        Journey(
            name: "tiktok",
            title:
                "Pixel 7 Pro, TikTok's in-app browser, Indonesian, with the old language code on Android, in Jakarta",
            visitor: .android("Pixel 7 Pro", "15.0.0", (412, 892), 3.5, ["id-ID", "id"], "Asia/Jakarta")
                .saying(
                    "Mozilla/5.0 (Linux; Android 15; Pixel 7 Pro Build/AP4A.250205.002; wv) \(view) "
                        + "Chrome/133.0.6943.121 Mobile Safari/537.36 musical_ly_2023808030 BytedanceWebview/d8a21c6"
                ),
            signals:
                "android; model=Pixel 7 Pro; os=15.0.0; screen=412x892; scale=3.5; timezone=Asia/Jakarta; languages=id",
            next: .wait,
            buttons: "store",
            phone: Handset("Pixel 7 Pro", "15", width: "1440", in: "Asia/Jakarta", language: "in"),
            form: .c
        ),
    ]
}
