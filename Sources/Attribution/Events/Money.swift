/// A currency of ISO 4217, with the number of its decimal places.
public struct Currency: Hashable, Sendable {
    /// The three capitals of the code.
    public let code: String
    /// The number of decimal places of an amount, 0…4.
    public let minorUnits: Int

    /// Returns the currency of a code of ISO 4217, in letters of either case.
    ///
    /// Returns nil for the codes of metals, funds and tests, and for any other text.
    public init?(_ code: String) {
        // Refuse letters beyond ASCII: the capitals of ß are SS, and the sign of the kelvin equals the letter K.
        guard code.utf8.allSatisfy(\.isASCIILetter) else { return nil }
        let code = code.uppercased()
        guard let minorUnits = Self.minorUnits[code] else { return nil }
        (self.code, self.minorUnits) = (code, minorUnits)
    }

    /// Source: ISO 4217, list one, without metals, funds and codes for tests.
    private static let lists: [(minorUnits: Int, codes: String)] = [
        (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
        (
            2,
            """
            AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF \
            CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF \
            IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR \
            MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD \
            SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER \
            ZAR ZMW ZWG
            """
        ),
        (3, "BHD IQD JOD KWD LYD OMR TND"),
        (4, "CLF UYW"),
    ]

    private static let minorUnits = lists.reduce(into: [String: Int]()) { units, list in
        for code in list.codes.split(separator: " ") { units[String(code)] = list.minorUnits }
    }
}

/// An amount of a currency, as a whole number of its smallest units.
public struct Money: Hashable, Sendable {
    /// The amount in the currency's smallest units, such as cents.
    public let amount: Int64
    public let currency: Currency

    /// The largest amount of one event; a sum of more than 9,000 such amounts is clamped to the range of 64 bits.
    public static let maximumAmount: Int64 = 1_000_000_000_000_000

    public init(_ amount: Int64, _ currency: Currency) { (self.amount, self.currency) = (amount, currency) }

    /// Reads a decimal number such as `-12.90`, which may have fewer decimal places than the currency but not more.
    ///
    /// Returns nil for any other text, and for an amount above ``maximumAmount``.
    public init?(_ text: String, _ currency: Currency) {
        let isNegative = text.hasPrefix("-")
        let parts = text.dropFirst(isNegative ? 1 : 0).split(
            separator: ".",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let fraction = parts.count == 2 ? parts[1] : ""
        guard let whole = parts.first, !whole.isEmpty, whole.utf8.count <= 16,
            parts.count == 1 || !fraction.isEmpty, fraction.utf8.count <= currency.minorUnits
        else { return nil }
        let missing = currency.minorUnits - fraction.utf8.count
        let digits = Array(whole.utf8) + Array(fraction.utf8) + Array(repeating: 0x30, count: missing)
        var amount: Int64 = 0
        for digit in digits {
            // The amount becomes at most ten times the maximum plus nine, which fits into 64 bits.
            guard (0x30...0x39).contains(digit), amount <= Self.maximumAmount else { return nil }
            amount = amount * 10 + Int64(digit - 0x30)
        }
        guard amount <= Self.maximumAmount else { return nil }
        self.init(isNegative ? -amount : amount, currency)
    }

    /// The amount as a decimal number with all decimal places of the currency.
    public var text: String {
        let digits = String(amount.magnitude)
        let places = currency.minorUnits
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.utf8.count)) + digits
        let fraction = places == 0 ? "" : ".\(padded.suffix(places))"
        return "\(amount < 0 ? "-" : "")\(padded.dropLast(places))\(fraction)"
    }
}
