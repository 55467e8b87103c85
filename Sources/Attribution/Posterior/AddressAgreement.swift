/// How the address of a launch compares with that of a click.
///
/// The raw value is part of the keys of learnt counters.
public enum AddressAgreement: UInt8, CaseIterable, Sendable {
    /// The same IPv4 address, or the same IPv6 /64.
    case exact = 0
    /// Another address of the same IPv4 /24 or IPv6 /48.
    case near = 1
    case differs = 2
    /// One of the two is not known, or says nothing: loopback, private and shared addresses, a relay's egress.
    case missing = 3

    /// Whether both come from one network.
    var agrees: Bool { self == .exact || self == .near }
}

/// How old a click is, as far as it matters for the question whether its device still has the same address.
public enum ClickAge: UInt8, CaseIterable, Sendable {
    case tenMinutes = 0
    case hour = 1
    case fourHours = 2
    case twelveHours = 3
    case later = 4

    public init(seconds: Double) {
        self =
            switch seconds {
            case ..<600: .tenMinutes
            case ..<3600: .hour
            case ..<14_400: .fourHours
            case ..<43_200: .twelveHours
            default: .later
            }
    }

    /// How often one device agrees exactly with itself, before traffic has shown it.
    ///
    /// High, because too low a value is the dangerous error: strangers would then explain what differs.
    public var priorExact: Double {
        switch self {
        case .tenMinutes: 0.70
        case .hour: 0.65
        case .fourHours: 0.50
        case .twelveHours: 0.40
        case .later: 0.35
        }
    }

    /// How often one device agrees with itself nearly but not exactly.
    public var priorNear: Double { 0.06 }
}
