/// Reads postbacks of SKAdNetwork, and builds the text that Apple signs.
extension SignedApplePostback {
    /// The separator of the signed values, U+2063.
    private static let separator = "\u{2063}"

    /// The signed fields of each version that can be verified, in the order in which they are signed.
    ///
    /// Conversion values are never signed. `publisher` is `source-app-id` or `source-domain`; if the postback has
    /// neither, the signed text lacks both the value and its separator. The order of version 2.2 comes from Apple's
    /// article alone, because Apple publishes no signed example of it.
    ///
    /// Source: Apple's articles "Verifying an install-validation postback" and "Combining parameters for …".
    private static let orders: [String: [String]] = {
        let early = [
            "version", "ad-network-id", "campaign-id", "app-id", "transaction-id", "redownload", "publisher",
        ]
        return [
            "2.1": early, "2.2": early + ["fidelity-type"], "3.0": early + ["fidelity-type", "did-win"],
            "4.0": early.map { $0 == "campaign-id" ? "source-identifier" : $0 }
                + ["fidelity-type", "did-win", "postback-sequence-index"],
        ]
    }()

    /// Reads a postback of SKAdNetwork, and verifies its signature.
    ///
    /// Ignores the fields of later versions, which the signature of the postback's version does not cover.
    ///
    /// - Throws: ``FieldProblem`` for a postback that Apple cannot have written. A version that cannot be verified
    ///   causes no error.
    public init(skAdNetwork values: [String: PostbackValue], keys: ApplePublicKeys = .published)
        throws(FieldProblem)
    {
        let fields = PostbackFields(values: values)
        let version = try fields.text("version", upTo: 16)
        let signedFields = version.flatMap { Self.orders[$0] }
        // Any sender could add a field of a later version to a genuine postback, because the signature does not cover
        // the field.
        func signed<Value>(_ name: String, _ value: Value?) -> Value? {
            signedFields?.contains(name) ?? true ? value : nil
        }
        var postback = ApplePostback(
            .skAdNetwork,
            network: try fields.required("ad-network-id", try fields.text("ad-network-id")),
            item: try fields.required("app-id", try fields.digits("app-id")),
            id: try fields.required("transaction-id", try fields.text("transaction-id", upTo: 64))
        )
        postback.version = version
        let (app, domain) = (try fields.digits("source-app-id"), try fields.text("source-domain"))
        guard app == nil || domain == nil else {
            throw FieldProblem("source-domain", "source-app-id and source-domain exclude each other.")
        }
        postback.publisher = app ?? domain
        let source = signed("source-identifier", try fields.source())
        let campaign = try fields.number("campaign-id", in: 1...100).map(String.init)
        postback.source = source ?? campaign
        let redownload = try fields.flag("redownload")
        postback.conversionType = redownload.map { $0 ? "redownload" : "download" }
        let fidelity = signed("fidelity-type", try fields.number("fidelity-type", in: 0...1))
        postback.interaction = fidelity.map { $0 == 0 ? "view" : "click" }
        let didWin = signed("did-win", try fields.flag("did-win"))
        let index = "postback-sequence-index"
        let sequence = signed(index, try fields.number(index, in: 0...2))
        (postback.didWin, postback.sequence) = (didWin ?? true, sequence ?? 0)
        try fields.readUnsigned(into: &postback)
        let text = try fields.required(
            "attribution-signature",
            try fields.text("attribution-signature", upTo: 1024)
        )
        let signature = Base64URL.bytes(ofStandard: text)
        guard let order = signedFields else {
            self.init(postback, .unsupported, message: [], signature: signature, keys)
            return
        }
        var texts: [String: String] = [:]
        texts["version"] = version
        texts["ad-network-id"] = postback.network
        texts["campaign-id"] = campaign
        texts["source-identifier"] = source
        texts["app-id"] = postback.item
        texts["transaction-id"] = postback.id
        texts["redownload"] = redownload.map { "\($0)" }
        texts["publisher"] = postback.publisher
        texts["fidelity-type"] = fidelity.map { "\($0)" }
        texts["did-win"] = didWin.map { "\($0)" }
        texts[index] = sequence.map { "\($0)" }
        if let missing = order.first(where: { texts[$0] == nil && $0 != "publisher" }) {
            throw FieldProblem(missing, "The postback has no \(missing).")
        }
        let message = order.compactMap { texts[$0] }.joined(separator: Self.separator)
        self.init(postback, .skAdNetwork, message: Array(message.utf8), signature: signature, keys)
    }
}
