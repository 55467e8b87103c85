/// How the match rates of an app's groups are.
public struct AppDrift: Equatable, Sendable {
    public let app: AppID
    /// Those that have fallen first, then by name.
    public var readings: [DriftReading]

    /// Groups of a report, over all its apps, beyond which only those are told that have fallen.
    public static let groupLimit = 500

    public init(app: AppID, readings: [DriftReading]) {
        self.app = app
        self.readings = readings
    }
}
