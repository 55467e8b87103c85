/// Which launches are learnt from: all of them up to a thousand a second, then every second, every fourth, and so
/// on, each for the ones left out.
///
/// Learning then costs the same however many there are.
public struct LaunchSampling {
    /// Launches a second that a loop learns from at most.
    private static let maximumPerSecond = 1000
    private static let second: UInt64 = 1_000_000_000

    private var begun: UInt64 = 0
    private var seen = 0
    private var every = 1

    public init() {}

    /// How many launches this one stands for; 0 for one that is left out.
    public mutating func times(at now: UInt64) -> Int {
        if now >= begun + Self.second {
            every = 1
            while seen / every > Self.maximumPerSecond { every *= 2 }
            begun = now
            seen = 0
        }
        seen += 1
        return seen % every == 0 ? every : 0
    }
}
