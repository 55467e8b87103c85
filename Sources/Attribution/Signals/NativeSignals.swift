/// What an app tells about its device, as the system gave it: every field may be missing.
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
    /// As ``screenWidth``.
    public var screenHeight: Double?
    /// Pixels a point on iOS.
    public var scale: Double?
    public var timezone: String?
    /// The language that the app runs in.
    public var language: String?
    /// The languages that the person prefers, in their order.
    public var languages: [String]?

    public init(
        platform: Platform = .unknown,
        model: String? = nil,
        machine: String? = nil,
        osVersion: String? = nil,
        screenWidth: Double? = nil,
        screenHeight: Double? = nil,
        scale: Double? = nil,
        timezone: String? = nil,
        language: String? = nil,
        languages: [String]? = nil
    ) {
        self.platform = platform
        self.model = model
        self.machine = machine
        self.osVersion = osVersion
        self.screenWidth = screenWidth
        self.screenHeight = screenHeight
        self.scale = scale
        self.timezone = timezone
        self.language = language
        self.languages = languages
    }
}
