/// The unverified values that a page's script or an app sends about its device: each may be missing or wrong.
public struct DeviceSignals: Equatable, Sendable {
    public var model: String?
    public var osVersion: String?
    /// In points (CSS pixels), like the height; the device may have either orientation.
    public var screenWidth: Double?
    public var screenHeight: Double?
    /// Pixels per point.
    public var pixelRatio: Double?
    public var timezone: String?
    public var language: String?
    public var languages: [String]?
    public var touchPoints: Int?
    /// The `model` of Chrome's high-entropy client hints.
    public var uaModel: String?
    /// The `platformVersion` of Chrome's high-entropy client hints.
    public var uaPlatformVersion: String?

    public init() {}
}

/// The values that an app reads from the device's system and sends: each may be missing.
public struct NativeSignals: Equatable, Sendable {
    public var platform: Platform
    /// `UIDevice.model` or `Build.MODEL`.
    public var model: String?
    /// The machine's name on iOS: `iPhone15,2`.
    public var machine: String?
    /// `UIDevice.systemVersion` or `Build.VERSION.RELEASE`.
    public var osVersion: String?
    /// In points on iOS, in physical pixels on Android.
    public var screenWidth: Double?
    /// In points on iOS, in physical pixels on Android.
    public var screenHeight: Double?
    /// Pixels per point on iOS.
    public var scale: Double?
    public var timezone: String?
    /// The language that the app runs in.
    public var language: String?
    /// The languages that the person prefers, the most preferred first.
    public var languages: [String]?

    public init(platform: Platform) { self.platform = platform }
}
