/// The marks of known robots by vendor, in lower case.
///
/// Data: add a row, or a word to one.
///
/// Source: the vendors' own pages on their robots. A mark must not occur in the agent of a browser or of an
/// app's built-in one: `bot` alone, say, is in every phone of the make Cubot.
enum RobotVendors {
    static let all: [(vendor: String, tokens: [String])] = [
        (
            "Google",
            [
                "googlebot", "adsbot-google", "mediapartners-google", "apis-google", "feedfetcher-google",
                "google-inspectiontool", "google-read-aloud", "google-site-verification",
                "google-pagerenderer", "google web preview", "googleother", "google-extended",
                "google-safety", "storebot-google", "googleimageproxy", "google-adwords", "google favicon",
                "duplexweb-google", "chrome-lighthouse",
            ]
        ),
        (
            "Meta",
            [
                "facebookexternalhit", "facebookcatalog", "facebot", "meta-externalagent",
                "meta-externalfetcher", "meta-webindexer",
            ]
        ),
        (
            "WhatsApp",
            [
                "whatsapp/"
            ]
        ),
        (
            "X",
            [
                "twitterbot"
            ]
        ),
        (
            "Telegram",
            [
                "telegrambot"
            ]
        ),
        (
            "Apple",
            [
                "applebot"
            ]
        ),
        (
            "Microsoft",
            [
                "bingbot", "bingpreview", "adidxbot", "msnbot", "microsoftpreview", "skypeuripreview",
                "outlookbot",
            ]
        ),
        (
            "LinkedIn",
            [
                "linkedinbot"
            ]
        ),
        (
            "Slack",
            [
                "slackbot", "slack-imgproxy",
            ]
        ),
        (
            "Discord",
            [
                "discordbot"
            ]
        ),
        (
            "Pinterest",
            [
                "pinterestbot", "pinterest/0.",
            ]
        ),
        (
            "Reddit",
            [
                "redditbot"
            ]
        ),
        (
            "Snapchat",
            [
                "snap url preview", "snapchatads",
            ]
        ),
        (
            "VK",
            [
                "vkshare", "mail.ru_bot",
            ]
        ),
        (
            "Viber",
            [
                "viberbot", "viber url",
            ]
        ),
        (
            "LINE",
            [
                "line-poker", "linespider",
            ]
        ),
        (
            "Kakao",
            [
                "kakaotalk-scrap", "kakaostory-og-reader", "daumoa",
            ]
        ),
        (
            "Signal, Matrix, Mastodon and others",
            [
                "synapse (bot", "mastodon/", "pleroma", "bluesky cardyb", "rocket.chat", "zoombot",
                "iframely", "embedly", "opengraph.io", "metainspector", "linkpreview", "link preview",
                "unfurl",
            ]
        ),
        (
            "Yahoo",
            [
                "yahoo! slurp", "yahoo link preview", "yahoomailproxy",
            ]
        ),
        (
            "Yandex",
            [
                "yandex.com/bots", "yandexbot", "yandexmobilebot", "yandeximages", "yandexmetrika",
            ]
        ),
        (
            "Baidu",
            [
                "baiduspider"
            ]
        ),
        (
            "ByteDance",
            [
                "bytespider", "tiktokspider",
            ]
        ),
        (
            "Huawei",
            [
                "petalbot", "aspiegelbot",
            ]
        ),
        (
            "Naver, Sogou, Seznam, Qwant, DuckDuckGo",
            [
                "yeti/", "naverbot", "sogou web spider", "sogou inst spider", "seznambot", "qwantbot",
                "qwantify", "duckduckbot", "duckassistbot", "coccocbot", "mojeekbot", "360spider",
            ]
        ),
        (
            "OpenAI",
            [
                "gptbot", "chatgpt-user", "oai-searchbot",
            ]
        ),
        (
            "Anthropic",
            [
                "claudebot", "claude-user", "claude-searchbot", "anthropic-ai",
            ]
        ),
        (
            "Perplexity",
            [
                "perplexitybot", "perplexity-user",
            ]
        ),
        (
            "Common Crawl, Amazon and other collectors",
            [
                "ccbot", "amazonbot", "diffbot", "cohere-ai", "youbot", "omgili", "imagesiftbot",
                "archive.org_bot", "ia_archiver", "heritrix",
            ]
        ),
        (
            "Search-engine marketing",
            [
                "ahrefsbot", "semrushbot", "siteauditbot", "mj12bot", "dotbot", "rogerbot", "blexbot",
                "dataforseobot", "screaming frog", "serpstatbot", "megaindex", "barkrowler", "seokicks",
            ]
        ),
        (
            "Monitoring and checks",
            [
                "uptimerobot", "pingdom", "statuscake", "site24x7", "datadogsynthetics", "newrelicpinger",
                "gtmetrix", "w3c_validator", "w3c-checklink", "ptst/", "catchpoint",
            ]
        ),
        (
            "Mail and security scanners",
            [
                "proofpoint", "barracuda", "mimecast", "urlscan", "virustotal", "safelinks",
                "censysinspect", "expanse", "zgrab", "nessus", "qualys",
            ]
        ),
        (
            "Automated browsers",
            [
                "headlesschrome", "phantomjs", "slimerjs", "prerender",
            ]
        ),
        (
            "Any robot that says it is one",
            [
                "crawler", "spider", "bot/", "-bot;", "+http://", "+https://",
            ]
        ),
    ]
}
