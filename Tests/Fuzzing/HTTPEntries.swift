extension FuzzEntry {
    private static let httpTokens = [
        "\r\n", "\r", "\n", "\r\n\r\n", " ", "\t", ":", ": ", "\u{0}", "GET ", "POST ", "HEAD ", "OPTIONS * ",
        "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "http://", "https://a", "/", "?", "#", "%", "%00", "[::1]", "@",
        "*", "Host: a\r\n", "Content-Length: ", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
        "chunked", "Connection: close\r\n", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n",
        "0\r\n\r\n", "5;a=\"b\"\r\n", "ffffffff", "18446744073709551616", "-1", "+1", "0x1", ",", ";", "=",
        "\"", "\\",
    ]

    /// Heads, bodies and pipelines: requests are the same however the bytes are cut, and can be sent again.
    static let http = FuzzEntry("http", tokens: httpTokens) { (bytes, random) throws(BrokenPromise) in
        let whole = try Conversation.events(bytes) { $0 }
        try checkCuts(bytes, whole, &random)
        for case .message(let message) in whole where message.hasRoomForLength {
            let again = try Conversation.events(message.bytes) { $0 }
            guard case .message(let same)? = again.first, again.count == 1 else {
                throw BrokenPromise("an accepted request is not accepted when it is sent again")
            }
            let isSame =
                same.line == message.line && same.body == message.body && same.others == message.others
            try promise(isSame, "a request is different when it is sent again")
        }
    }

    /// The bytes after a head that announces chunks.
    static let chunkedBody = FuzzEntry(
        "chunked-body",
        tokens: [
            "\r\n", "\r", "\n", "0\r\n\r\n", "1\r\n", "5\r\nhello\r\n", "0", "ffffffff", ";", ";a", "=", "\"",
            "\\", " ", "\t", "\u{0}", "X: y\r\n", "Host: a\r\n", ":", "0x", "_", "00000000",
        ]
    ) { (bytes, random) throws(BrokenPromise) in
        let head = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        let whole = try Conversation.events(head + bytes) { $0 }
        try checkCuts(head + bytes, whole, &random)
        guard case .message(let message)? = whole.first else { return }
        try promise(message.body.count <= bytes.count, "a body is longer than its chunks")
        var again = head
        var rest = message.body[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(1 + random.below(rest.count))
            again += Array("\(String(chunk.count, radix: 16));x\r\n".utf8) + chunk + Array("\r\n".utf8)
            rest = rest.dropFirst(chunk.count)
        }
        let events = try Conversation.events(again + Array("0\r\n\r\n".utf8)) { $0 }
        try promise(events == [.message(message)], "a body is different in other chunks")
    }

    private static func checkCuts(
        _ bytes: [UInt8],
        _ whole: [Conversation.Event],
        _ random: inout FuzzGenerator
    ) throws(BrokenPromise) {
        let longest = [1, 7, 200][random.below(3)]
        // A long input is not cut into single bytes, because short ones already are.
        let minimum = bytes.count > 4_096 ? bytes.count / 16 : 1
        var cuts = random
        let events = try Conversation.events(bytes) { _ in max(minimum, 1 + cuts.below(longest)) }
        random = cuts
        try promise(events == whole, "the cut changes the events: \(whole) and \(events)")
    }
}
