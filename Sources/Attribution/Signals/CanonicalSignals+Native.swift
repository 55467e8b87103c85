extension CanonicalSignals {
    /// From what an app tells about its device.
    public init(_ signals: NativeSignals, data: DeviceData = .embedded) {
        let appleModel = Self.appleModel(signals.model ?? signals.machine, touchPoints: nil)
        let isApple = signals.platform == .ios || signals.platform != .android && appleModel != nil
        self.init(platform: isApple ? .ios : signals.platform)
        model = isApple ? appleModel : signals.model.flatMap { AndroidModel.clean($0) }
        system =
            signals.osVersion.flatMap { OSVersion($0.trimmed) }.map(OSVersionReading.exact) ?? .unknown
        let size = ScreenSize(signals.screenWidth, signals.screenHeight)
        if isApple {
            screen = size
            scale = signals.scale
        } else {
            panelWidth = size?.width
        }
        setTimezone(signals.timezone, data.timeZones)
        let told = (signals.language.map { [$0] } ?? []) + (signals.languages ?? [])
        setLanguages(told, data.languages)
    }
}
