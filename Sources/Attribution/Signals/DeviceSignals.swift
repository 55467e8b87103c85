/// What a page's script or an app tells about its device, as it came: every field may be missing or wrong.
public struct DeviceSignals: Equatable, Sendable {
    public var model: String?
    public var osVersion: String?
    /// In points (CSS pixels), in whichever direction the device is held.
    public var screenWidth: Double?
    public var screenHeight: Double?
    /// Pixels per point.
    public var pixelRatio: Double?
    public var timezone: String?
    public var language: String?
    public var languages: [String]?
    public var touchPoints: Int?
    /// Chrome's high-entropy `model`.
    public var uaModel: String?
    /// Chrome's high-entropy `platformVersion`.
    public var uaPlatformVersion: String?

    public init(
        model: String? = nil,
        osVersion: String? = nil,
        screenWidth: Double? = nil,
        screenHeight: Double? = nil,
        pixelRatio: Double? = nil,
        timezone: String? = nil,
        language: String? = nil,
        languages: [String]? = nil,
        touchPoints: Int? = nil,
        uaModel: String? = nil,
        uaPlatformVersion: String? = nil
    ) {
        self.model = model
        self.osVersion = osVersion
        self.screenWidth = screenWidth
        self.screenHeight = screenHeight
        self.pixelRatio = pixelRatio
        self.timezone = timezone
        self.language = language
        self.languages = languages
        self.touchPoints = touchPoints
        self.uaModel = uaModel
        self.uaPlatformVersion = uaPlatformVersion
    }
}
