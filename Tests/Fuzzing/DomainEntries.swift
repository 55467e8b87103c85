import Attribution
import DomainFiles
import HTTPServer
import Server

extension FuzzEntry {
    /// The response of another server; it is the same however its bytes are cut, and never too long.
    static let answer = FuzzEntry(
        "answer",
        tokens: [
            "HTTP/1.1 ", "HTTP/1.0 ", "HTTP/2 ", "200", "204", "301", "100 Continue\r\n\r\n", " OK", "\r\n",
            "\r", "\n", "\r\n\r\n", ": ", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n",
            "3\r\nabc\r\n", "ffffffff", "99999999999999999999", "\u{0}", "Location: https://a.example/\r\n",
        ]
    ) { (bytes, random) throws(BrokenPromise) in
        let whole = read(bytes) { $0 }
        let longest = 1 + random.below(40)
        var cuts = random
        let cut = read(bytes) { _ in 1 + cuts.below(longest) }
        random = cuts
        try promise(whole == cut, "a response is different when it arrives in pieces")
        guard case .success(let answer) = whole else { return }
        try promise(answer.body.count <= bodyLimit, "a body is longer than its limit")
        try promise((200...599).contains(answer.status), "a response has an invalid status")
    }

    private static let bodyLimit = 64

    private static func read(
        _ bytes: [UInt8],
        _ length: (Int) -> Int
    ) -> Result<HTTPSResponse, HTTPSFailure> {
        var parser = HTTPSResponseParser(isHead: false, bodyLimit: bodyLimit)
        var rest = bytes[...]
        do throws(HTTPSFailure) {
            while !rest.isEmpty {
                let count = length(rest.count)
                if let answer = try parser.receive(Array(rest.prefix(count))) { return .success(answer) }
                rest = rest.dropFirst(count)
            }
            return .success(try parser.end(isClean: true))
        } catch { return .failure(error) }
    }

    /// A domain file of another server; it is read to the end, and each finding has a problem and advice.
    static let domainFile = FuzzEntry(
        "domain-file",
        tokens: [
            #"{"applinks":"#, #""details":["#, #""appIDs":["ABCDE12345.a.b"]"#, #""components":["#, #""/":"#,
            #""?":"#, ##""#":"##, #""exclude":true"#, #""caseSensitive":false"#, #""percentEncoded":false"#,
            "{", "}", "[", "]", ",", #""*""#, #""$(lang)""#, #""/a?b#c""#, "%", "%2F", "ü",
            #""paths":["NOT /a"]"#, #"[{"relation":["#, #""target":{"namespace":"android_app""#,
            #""sha256_cert_fingerprints":["#, "null",
        ]
    ) { (bytes, _) throws(BrokenPromise) in
        for kind in DomainFile.allCases {
            let validation = DomainFileValidation(kind, bytes, from: "file")
            for finding in validation.findings {
                let isWhole = !finding.problem.isEmpty && !finding.advice.isEmpty
                try promise(isWhole, "a finding lacks its problem or its advice")
            }
            if let url = AssociationURL("/a/b?c=d&e#f") { _ = validation.decisions(for: url) }
        }
    }

    static let linkRule = FuzzEntry(
        same: "link-rule",
        tokens: [
            "exclude ", "/", "*", "?", "#", "=", "&", "$(lang)", "$(", ")", " ", " -- ", "ignore-case",
            "decoded", "%", "ü", "\u{0}", "??", "?a=b",
        ]
    ) {
        try? LinkRule(parsing: $0)
    } write: {
        $0.text
    }
}
