/// How many clicks and launches came from the address of a launch: how crowded it is.
public struct AddressTraffic: Equatable, Sendable {
    /// Live clicks of the app from the exact address, whatever their fingerprint; a store may stop counting at
    /// ``enough``.
    public var clicksExact: Double
    /// Live clicks of the app from near the address, the exact ones included; as above.
    public var clicksNear: Double
    /// All live clicks of the app.
    public var liveClicks: Double
    /// ``CounterFamily/launchesAtAddress`` of the address, at its present worth.
    public var launchesExact: Double
    /// ``CounterFamily/launchesNearAddress``, the exact ones included, at its present worth.
    public var launchesNear: Double

    /// How much of the launches from which the model has learnt came while addresses could be compared with this one's,
    /// 0…1: those of days whose keys are gone are not among the counts above.
    public var coverage: Double = 1

    /// An address with so many clicks is crowded, however many more there are: launches then tell the rest.
    public static let enough = 8192.0

    public init(
        clicksExact: Double = 0,
        clicksNear: Double = 0,
        liveClicks: Double = 0,
        launchesExact: Double = 0,
        launchesNear: Double = 0
    ) {
        self.clicksExact = clicksExact
        self.clicksNear = clicksNear
        self.liveClicks = liveClicks
        self.launchesExact = launchesExact
        self.launchesNear = launchesNear
    }
}
