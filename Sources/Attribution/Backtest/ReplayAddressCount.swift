/// How many clicks came from a crowded address, as a store counts them: by its newest ones, every now and then.
struct ReplayAddressCount: Sendable {
    let exact: Double
    let near: Double
    private let madeAt: Timestamp

    /// How old it may be, in milliseconds.
    private static let longest: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// - Parameters:
    ///   - clicks: the newest from near the address, ``AddressTraffic/countLimit`` at most, in the order of time.
    ///   - address: that of a launch.
    ///   - now: the present.
    init(of clicks: [RecordedClick], at address: AddressHashes, at now: Timestamp) {
        let covered = min(max(now.milliseconds(since: clicks.first?.at ?? now), 1000), Self.day)
        // What came in the latest part of a day stands for the whole of it.
        let scale = Double(clicks.count) < AddressTraffic.countLimit ? 1 : Double(Self.day) / Double(covered)
        exact = Double(clicks.count { $0.address?.exact == address.exact }) * scale
        near = Double(clicks.count) * scale
        madeAt = now
    }

    func isOld(at now: Timestamp) -> Bool { abs(now.milliseconds(since: madeAt)) > Self.longest }
}
