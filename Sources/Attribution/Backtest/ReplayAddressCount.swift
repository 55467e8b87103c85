/// The number of clicks from a busy address, counted as a store does: from its newest clicks, at intervals.
struct ReplayAddressCount: Sendable {
    let exact: Double
    let near: Double
    private let madeAt: Timestamp

    /// The age at which the count is made again, in milliseconds.
    private static let maximumAge: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// - Parameters:
    ///   - clicks: the newest from near the address, at most ``AddressTraffic/countLimit``, in the order of
    ///     time.
    ///   - address: the address of a launch.
    ///   - now: the current time.
    init(of clicks: [RecordedClick], at address: AddressHashes, at now: Timestamp) {
        let covered = min(max(now.milliseconds(since: clicks.first?.at ?? now), 1000), Self.day)
        // The clicks of the latest part of a day stand for the whole of it.
        let scale = Double(clicks.count) < AddressTraffic.countLimit ? 1 : Double(Self.day) / Double(covered)
        exact = Double(clicks.count { $0.address?.exact == address.exact }) * scale
        near = Double(clicks.count) * scale
        madeAt = now
    }

    func isOld(at now: Timestamp) -> Bool { abs(now.milliseconds(since: madeAt)) > Self.maximumAge }
}
