import Attribution
import HTTPServer
import Testing

/// Visitors of links, by their user agents.
enum Visitors {
    static let iPhone =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
    static let android =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36"
    static let mac =
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15"
    static let windows =
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
    static let tikTok =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 BytedanceWebview/d8a21c6 musical_ly_33.2.1"
    static let weChat =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.50 NetType/WIFI Language/zh_CN"
    static let preview = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
}

extension TestService {
    /// Returns the count of a metric in the statistics of live traffic.
    func counted(_ metric: Metric) async throws -> Int64 { try await totals()[metric] ?? 0 }

    /// Opens a link as a browser does.
    @discardableResult
    func open(
        _ slug: String,
        _ agent: String = Visitors.iPhone,
        method: HTTPServer.Method = .get,
        query: String? = nil,
        fields: [String: String] = [:]
    ) async -> Answer {
        let usual = [
            "User-Agent": agent, "Host": "go.shop.example", "Accept": "text/html,*/*;q=0.8",
            "Accept-Language": "en-GB,en;q=0.9",
        ]
        return await send(method, "/" + slug, query: query, fields: usual.merging(fields) { $1 })
    }
}

extension Answer {
    var page: PageMarkup { PageMarkup(text) }
}
