import Attribution

extension Journey {
    private static let start = "Mozilla/5.0 (iPhone; CPU iPhone OS"
    private static let engine = "like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"

    static let apple = [
        Journey(
            name: "safari",
            title: "iPhone 13, Safari 17, Turkish, in Istanbul",
            visitor: .apple((390, 844), 3, ["tr-TR", "tr", "en-US", "en"], "Europe/Istanbul")
                .saying("\(start) 17_5_1 \(engine) Version/17.5 Mobile/15E148 Safari/604.1"),
            signals:
                "ios; model=iPhone; os=17.5.1; screen=390x844; scale=3.0; timezone=Europe/Istanbul; languages=tr,en",
            next: .appStore,
            buttons: "store,open",
            phone: Handset(
                "iPhone",
                "17.5.1",
                "390x844",
                width: "1170",
                in: "Europe/Istanbul",
                language: "tr"
            ),
            form: .a
        ),
        Journey(
            name: "safari26",
            title:
                "iPhone 16 Pro, Safari 26, whose user agent has a frozen system version, German, in Berlin",
            visitor: .apple((402, 874), 3, ["de-DE"], "Europe/Berlin")
                .saying("\(start) 18_7 \(engine) Version/26.4 Mobile/15E148 Safari/604.1"),
            signals:
                "ios; model=iPhone; os=26.4; screen=402x874; scale=3.0; timezone=Europe/Berlin; languages=de",
            next: .appStore,
            buttons: "store,open",
            phone: Handset("iPhone", "26.4.1", "402x874", width: "1206", in: "Europe/Berlin", language: "de"),
            form: .a
        ),
        Journey(
            name: "instagram",
            title: "iPhone 14 Pro Max, Instagram's in-app browser, English, in New York",
            visitor: .apple((430, 932), 3, ["en-US", "en"], "America/New_York").saying(
                "\(start) 18_5 \(engine) Mobile/22F76 Instagram 393.1.0.36.70 (iPhone15,3; iOS 18_5; en_US; en; "
                    + "scale=3.00; 1290x2796; IABMV/1; 776538208) Safari/604.1)"
            ),
            signals:
                "ios; model=iPhone; os=18.5.0; screen=430x932; scale=3.0; timezone=America/New_York; languages=en",
            next: .wait,
            buttons: "store,open,browser",
            phone: Handset(
                "iPhone",
                "18.5",
                "430x932",
                width: "1290",
                in: "America/New_York",
                language: "en"
            ),
            form: .b
        ),
        Journey(
            name: "ipad",
            title: "iPad Air, Safari with a mobile user agent, French, in Paris",
            visitor: .apple((820, 1180), 2, ["fr-FR", "fr"], "Europe/Paris").saying(
                "Mozilla/5.0 (iPad; CPU OS 17_6_1 \(engine) Version/17.6 Mobile/15E148 Safari/604.1"
            ),
            signals:
                "ios; model=iPad; os=17.6.1; screen=820x1180; scale=2.0; timezone=Europe/Paris; languages=fr",
            next: .appStore,
            buttons: "store,open",
            phone: Handset("iPad", "17.6.1", "820x1180", width: "1640", in: "Europe/Paris", language: "fr"),
            form: .c
        ),
        Journey(
            name: "ipaddesktop",
            title: "iPad Air, Safari with a desktop user agent, Japanese, in Tokyo",
            visitor: .apple((820, 1180), 2, ["ja-JP", "ja"], "Asia/Tokyo").saying(
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
                    + "Version/18.5 Safari/605.1.15"
            ),
            signals:
                "ios; model=iPad; os=18.5; screen=820x1180; scale=2.0; timezone=Asia/Tokyo; languages=ja",
            next: .appStore,
            buttons: "store,open",
            phone: Handset("iPad", "18.5", "820x1180", width: "1640", in: "Asia/Tokyo", language: "ja"),
            form: .a
        ),
        Journey(
            name: "wechat",
            title: "iPhone SE, WeChat's in-app browser, Chinese, in Shanghai",
            visitor: .apple((375, 667), 2, ["zh-CN"], "Asia/Shanghai").saying(
                "\(start) 18_1 \(engine) Mobile/15E148 MicroMessenger/8.0.50(0x1800323d) NetType/WIFI "
                    + "Language/zh_CN"
            ),
            signals:
                "ios; model=iPhone; os=18.1.0; screen=375x667; scale=2.0; timezone=Asia/Shanghai; languages=zh",
            next: .wait,
            buttons: "store",
            phone: Handset("iPhone", "18.1", "375x667", width: "750", in: "Asia/Shanghai", language: "zh"),
            form: .d
        ),
    ]
}
