internal import Crypto

/// Reads postbacks of AdAttributionKit, whose signed part is a compact JWS.
extension SignedApplePostback {
    /// Reads a postback of AdAttributionKit, and verifies its signature.
    ///
    /// The algorithm is always ES256; the header cannot choose another one.
    ///
    /// - Parameters:
    ///   - values: the members of the body.
    ///   - keys: the public keys that may have signed it.
    ///   - parse: returns the members of a JSON object; nil for any other text.
    /// - Throws: ``FieldProblem`` for a postback that Apple cannot have written.
    public init(
        adAttributionKit values: [String: PostbackValue],
        keys: ApplePublicKeys = .published,
        parse: ([UInt8]) -> [String: PostbackValue]?
    ) throws(FieldProblem) {
        let unsigned = PostbackFields(values: values)
        let text = try unsigned.required("jws-string", try unsigned.text("jws-string", upTo: 8192))
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Base64URL.bytes(of: parts[0]).flatMap(parse),
            let payload = Base64URL.bytes(of: parts[1]).flatMap(parse),
            let raw = Base64URL.bytes(of: parts[2])
        else {
            throw FieldProblem(
                "jws-string",
                "jws-string must be a header, a payload and a signature in base64url."
            )
        }
        let fields = PostbackFields(values: payload)
        var postback = ApplePostback(
            .adAttributionKit,
            network: try fields.required("ad-network-identifier", try fields.text("ad-network-identifier")),
            item: try fields.required(
                "advertised-item-identifier",
                try fields.digits("advertised-item-identifier")
            ),
            id: try fields.required("postback-identifier", try fields.text("postback-identifier", upTo: 64))
        )
        postback.source = try fields.source()
        let types = ["download", "redownload", "re-engagement"]
        postback.conversionType = try fields.word("conversion-type", of: types)
        postback.publisher = try fields.digits("publisher-item-identifier")
        postback.didWin = try fields.required("did-win", try fields.flag("did-win"))
        let name = "postback-sequence-index"
        postback.sequence = try fields.required(name, try fields.number(name, in: 0...2))
        postback.interaction = try unsigned.word("ad-interaction-type", of: ["view", "click"])
        postback.country = try unsigned.text("country-code", upTo: 3)
        try unsigned.readUnsigned(into: &postback)
        var key: String?
        if case .text(let name)? = header["kid"] { key = name }
        self.init(
            postback,
            .named(key),
            message: Array("\(parts[0]).\(parts[1])".utf8),
            signature: ECDSAP256.der(ofRaw: raw),
            keys
        )
    }
}
