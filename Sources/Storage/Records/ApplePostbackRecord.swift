public import Attribution

/// A row of `apple_postbacks`.
public struct ApplePostbackRecord: Record, Equatable, Sendable {
    public var stored: StoredApplePostback
    /// The digest of the body, by which a repeated body is recognised.
    let digest: KeyDigest

    public init(_ stored: StoredApplePostback) {
        self.stored = stored
        digest = KeyDigest(of: stored.body)
    }

    public static let columns: Columns = [
        "number", "framework", "version", "network", "item", "postback", "sequence", "did_win", "source",
        "conversion_type", "publisher", "fine_value", "coarse_value", "interaction", "country",
        "verification", "environment", "counted", "received_at", "digest", "body",
    ]

    public func write(to row: inout some RowWriter) {
        let postback = stored.postback
        row.put("number", stored.number)
        row.put("framework", postback.framework)
        row.put("version", postback.version)
        row.put("network", postback.network)
        row.put("item", postback.item)
        row.put("postback", postback.id)
        row.put("sequence", postback.sequence)
        row.put("did_win", postback.didWin)
        row.put("source", postback.source)
        row.put("conversion_type", postback.conversionType)
        row.put("publisher", postback.publisher)
        row.put("fine_value", postback.fineValue)
        row.put("coarse_value", postback.coarseValue)
        row.put("interaction", postback.interaction)
        row.put("country", postback.country)
        row.put("verification", stored.verification)
        row.put("environment", stored.environment)
        row.put("counted", stored.isCounted)
        row.put("received_at", stored.receivedAt)
        row.put("digest", digest.bytes)
        row.put("body", stored.body)
    }

    public init?(_ row: inout some RowReader) {
        let number: Int64 = row.get("number")
        guard let postback = ApplePostback(&row, isGroup: false) else { return nil }
        let verification: AppleVerification? = row.get("verification")
        let environment: AppleEnvironment? = row.get("environment")
        let isCounted: Bool = row.get("counted")
        let receivedAt: Timestamp = row.get("received_at")
        let digest = KeyDigest(bytes: row.get("digest"))
        let body: String = row.get("body")
        guard let verification, let environment, let digest else { return nil }
        stored = StoredApplePostback(postback, verification, environment, receivedAt: receivedAt, body: body)
        (stored.number, stored.isCounted) = (number, isCounted)
        self.digest = digest
    }
}

/// A group of rows of `apple_postbacks`, and how many rows it has.
public struct ApplePostbackSumRecord: Record, Sendable {
    public let sum: ApplePostbackSum

    /// The columns by which the rows are grouped.
    public static let groups: Columns = [
        "framework", "network", "item", "sequence", "did_win", "source", "fine_value", "coarse_value",
        "verification", "environment", "counted",
    ]
    public static let columns = groups + ["amount"]

    public func write(to row: inout some RowWriter) {}

    public init?(_ row: inout some RowReader) {
        guard let postback = ApplePostback(&row, isGroup: true) else { return nil }
        let verification: AppleVerification? = row.get("verification")
        let environment: AppleEnvironment? = row.get("environment")
        let isCounted: Bool = row.get("counted")
        guard let verification, let environment else { return nil }
        sum = ApplePostbackSum(
            postback,
            verification,
            environment,
            isCounted: isCounted,
            count: row.get("amount")
        )
    }
}

extension ApplePostback {
    /// Reads a postback; of a group of postbacks, only the columns by which it is grouped.
    fileprivate init?(_ row: inout some RowReader, isGroup: Bool) {
        guard let framework: Framework = row.get("framework") else { return nil }
        let version: String? = isGroup ? nil : row.get("version")
        let (network, item): (String, String) = (row.get("network"), row.get("item"))
        self.init(framework, network: network, item: item, id: isGroup ? "" : row.get("postback"))
        self.version = version
        sequence = row.get("sequence")
        didWin = row.get("did_win")
        source = row.get("source")
        if !isGroup { (conversionType, publisher) = (row.get("conversion_type"), row.get("publisher")) }
        fineValue = row.get("fine_value")
        coarseValue = row.get("coarse_value")
        if !isGroup { (interaction, country) = (row.get("interaction"), row.get("country")) }
    }
}
