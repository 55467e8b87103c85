/// Live clicks with the launch's fingerprint that are not told one by one.
///
/// None of them agrees with the launch's address, unless as many as are listed do: the newest of those are told.
public struct BackgroundCount: Equatable, Sendable {
    /// Nil for clicks of many destinations, none of which has enough of them to matter.
    public var destination: CreditedDestination?
    public var lane: PlatformForm
    /// The ``DelayBins`` bin of their age.
    public var ageBin: Int
    /// The sum of their weights.
    public var weight: Double
    /// How many of them have a known address, 0…1.
    public var shareWithAddress: Double
    /// Their system, where a store counts by it.
    public var release: OSRelease?

    public init(
        destination: CreditedDestination?,
        lane: PlatformForm,
        ageBin: Int,
        weight: Double,
        shareWithAddress: Double = 1,
        release: OSRelease? = nil
    ) {
        self.destination = destination
        self.lane = lane
        self.ageBin = ageBin
        self.weight = weight
        self.shareWithAddress = shareWithAddress
        self.release = release
    }
}
