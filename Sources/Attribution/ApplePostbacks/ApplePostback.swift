package import JSON

/// Apple's report about an installation that an ad led to, with the fields of all frameworks.
///
/// Numeric identifiers are stored as the digits of Apple's JSON, because a floating-point number would round them.
public struct ApplePostback: Equatable, Sendable {
    /// Apple's framework; the raw value is the word on the wire and in the database.
    public enum Framework: String, CaseIterable, Sendable {
        case skAdNetwork = "skadnetwork"
        case adAttributionKit = "adattributionkit"
        /// Apple Ads, whose attributions come from the exchange of a token and not as postbacks.
        case appleAds = "apple_ads"

        /// The path of the receiver; nil for Apple Ads.
        public var path: String? {
            switch self {
            case .skAdNetwork: "/.well-known/skadnetwork/report-attribution/"
            case .adAttributionKit: "/.well-known/appattribution/report-attribution/"
            case .appleAds: nil
            }
        }
    }

    /// A coarse conversion value, which has three steps.
    public enum CoarseValue: String, CaseIterable, Sendable { case low, medium, high }

    public let framework: Framework
    /// The version of SKAdNetwork; nil for version 1 and for other frameworks.
    public var version: String?
    /// The identifier of the ad network.
    public let network: String
    /// The App Store's number of the advertised app; for Apple Ads, Afterlink's id of the app if there is no number.
    public let item: String
    /// The postback's own identifier.
    public let id: String
    /// The position among an installation's three postbacks, 0…2; versions before 4 send only the first one.
    public var sequence: Int64 = 0
    /// Whether the network won the attribution; versions before 3 send only winning postbacks.
    public var didWin = true
    /// The source identifier of two to four digits; before version 4, the campaign's number.
    public var source: String?
    /// `download`, `redownload` or `re-engagement`.
    public var conversionType: String?
    /// The app or the web domain that showed the ad.
    public var publisher: String?
    /// The conversion value, 0…63.
    ///
    /// This value, ``coarseValue`` and ``country`` are not signed. ``interaction`` is signed by SKAdNetwork from
    /// version 2.2 on.
    public var fineValue: Int64?
    public var coarseValue: CoarseValue?
    /// `view` or `click`.
    public var interaction: String?
    public var country: String?

    public init(_ framework: Framework, network: String, item: String, id: String) {
        (self.framework, self.network, self.item, self.id) = (framework, network, item, id)
    }

    /// The App Store's number of the advertised app; empty if there is none.
    public var appStoreID: String { item.utf8.allSatisfy(\.isASCIIDigit) ? item : "" }

    /// Whether Apple withheld the conversion value of a winning postback, because too few people were counted.
    public var withholdsValue: Bool { didWin && fineValue == nil && coarseValue == nil }
}

extension App {
    /// The texts that ``ApplePostback/item`` may have for the app.
    public var appleItems: [String] {
        [settings.links.apple.appStoreID.map { String($0) }, id.text].compactMap(\.self)
    }
}

extension ApplePostback {
    /// Writes the fields that Apple has sent, with identifiers as texts.
    package func write(to json: inout JSONWriter) {
        json.member("framework", framework.rawValue)
        json.member("version", version)
        json.member("id", id)
        json.member("network", network)
        json.member("app_store_id", appStoreID)
        json.member("source_identifier", source)
        json.member("sequence", sequence)
        json.member("did_win", didWin)
        json.member("conversion_type", conversionType)
        json.member("publisher", publisher)
        json.member("interaction", interaction)
        json.member("conversion_value", fineValue)
        json.member("coarse_conversion_value", coarseValue?.rawValue)
        json.member("country", country)
        json.member("value_withheld", withholdsValue)
    }
}

/// A value of a postback's JSON.
public enum PostbackValue: Equatable, Sendable {
    case text(String)
    /// A number, as it is written.
    case number(String)
    case flag(Bool)
    case other
}

/// Reads the fields of a postback, and refuses those that Apple would never write.
struct PostbackFields {
    let values: [String: PostbackValue]

    /// Returns a text; it must be visible ASCII, so that it cannot contain the separator of the signed text.
    func text(_ name: String, upTo maximum: Int = 255) throws(FieldProblem) -> String? {
        guard let value = values[name] else { return nil }
        guard case .text(let text) = value, (1...maximum).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw FieldProblem(name, "\(name) must be a text of 1 to \(maximum) visible characters.") }
        return text
    }

    func digits(_ name: String) throws(FieldProblem) -> String? {
        guard let value = values[name] else { return nil }
        guard case .number(let digits) = value, digits.utf8.count <= 20,
            digits.utf8.allSatisfy(\.isASCIIDigit)
        else { throw FieldProblem(name, "\(name) must be a whole number.") }
        return digits
    }

    func number(_ name: String, in range: ClosedRange<Int64>) throws(FieldProblem) -> Int64? {
        guard let digits = try digits(name) else { return nil }
        guard let number = Int64(digits), range.contains(number) else {
            throw FieldProblem(name, "\(name) must be from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    func flag(_ name: String) throws(FieldProblem) -> Bool? {
        guard let value = values[name] else { return nil }
        guard case .flag(let flag) = value else { throw FieldProblem(name, "\(name) must be true or false.") }
        return flag
    }

    func word(_ name: String, of words: [String]) throws(FieldProblem) -> String? {
        guard let text = try text(name) else { return nil }
        guard words.contains(text) else {
            throw FieldProblem(name, "\(name) must be one of \(words.joined(separator: ", ")).")
        }
        return text
    }

    /// Returns the source identifier of version 4 and of AdAttributionKit.
    func source() throws(FieldProblem) -> String? {
        guard let text = try text("source-identifier", upTo: 4) else { return nil }
        guard text.utf8.count >= 2, text.utf8.allSatisfy(\.isASCIIDigit) else {
            throw FieldProblem("source-identifier", "source-identifier must be a text of two to four digits.")
        }
        return text
    }

    /// Reads the fields that both frameworks leave unsigned.
    func readUnsigned(into postback: inout ApplePostback) throws(FieldProblem) {
        postback.fineValue = try number("conversion-value", in: 0...63)
        postback.coarseValue = try word("coarse-conversion-value", of: ["low", "medium", "high"])
            .flatMap { ApplePostback.CoarseValue(rawValue: $0) }
    }

    /// Returns a required value.
    func required<Value>(_ name: String, _ value: Value?) throws(FieldProblem) -> Value {
        guard let value else { throw FieldProblem(name, "The postback has no \(name).") }
        return value
    }
}
