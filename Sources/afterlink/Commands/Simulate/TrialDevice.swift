internal import Attribution

/// A device as an app's SDK sees it: the native values that it hashes.
package struct TrialDevice: Sendable {
    /// The word on the command line: `iphone-13`.
    package let name: String
    let platform: Platform
    /// `UIDevice.model`, `Build.MODEL`.
    var model: String
    /// `utsname.machine` on iOS.
    var machine: String?
    /// `UIDevice.systemVersion`, `Build.VERSION.RELEASE`.
    package var osVersion: String
    /// In points on iOS, in pixels on Android.
    let screen: (width: Int, height: Int)
    /// `UIScreen.scale`; 1 on Android, whose sides are pixels.
    let scale: Int

    /// The shorter side in points, `x`, the longer one.
    var screenText: String {
        "\(min(screen.width, screen.height))x\(max(screen.width, screen.height))"
    }

    /// The shorter side in pixels.
    var widthText: String { String(min(screen.width, screen.height) * scale) }

    /// What a newer client sends, as the system gives it.
    func values(for person: TrialPerson) -> NativeSignals {
        NativeSignals(
            platform: platform,
            model: model,
            machine: machine,
            osVersion: osVersion,
            screenWidth: Double(screen.width),
            screenHeight: Double(screen.height),
            scale: platform == .ios ? Double(scale) : nil,
            timezone: person.deviceTimezone,
            language: person.language(on: platform),
            languages: person.languages
        )
    }

    /// What its SDK hashes for a component.
    func value(of component: SignalComponent, for person: TrialPerson) -> String {
        switch component {
        case .model: model
        case .osVersion: osVersion
        case .screen: screenText
        case .width: widthText
        case .timezone: person.deviceTimezone
        case .language: person.language(on: platform)
        }
    }

    package static let all = [
        iPhone("iphone-se", "iPhone14,6", "18.1", (375, 667), scale: 2),
        iPhone("iphone-13", "iPhone14,5", "17.5.1", (390, 844)),
        iPhone("iphone-14-pro-max", "iPhone15,3", "18.5", (430, 932)),
        iPhone("iphone-15-pro", "iPhone16,1", "26.0.1", (393, 852)),
        iPhone("iphone-16-pro", "iPhone17,1", "26.4.1", (402, 874)),
        TrialDevice(
            name: "ipad-air",
            platform: .ios,
            model: "iPad",
            machine: "iPad13,16",
            osVersion: "18.5",
            screen: (820, 1180),
            scale: 2
        ),
        android("pixel-8", "Pixel 8", "14", (1080, 2400)),
        android("pixel-7-pro", "Pixel 7 Pro", "15", (1440, 3120)),
        android("galaxy-s23", "SM-S911B", "14", (1080, 2340)),
        android("galaxy-a54", "SM-A546E", "14", (1080, 2340)),
        android("galaxy-a21s", "SM-A217F", "10", (720, 1600)),
        android("redmi-note-8-pro", "Redmi Note 8 Pro", "11", (1080, 2340)),
        android("nexus-5x", "Nexus 5X", "6.0.1", (1080, 1920)),
    ]

    private static func iPhone(
        _ name: String,
        _ machine: String,
        _ osVersion: String,
        _ screen: (width: Int, height: Int),
        scale: Int = 3
    ) -> TrialDevice {
        TrialDevice(
            name: name,
            platform: .ios,
            model: "iPhone",
            machine: machine,
            osVersion: osVersion,
            screen: screen,
            scale: scale
        )
    }

    private static func android(
        _ name: String,
        _ model: String,
        _ osVersion: String,
        _ pixels: (width: Int, height: Int)
    ) -> TrialDevice {
        TrialDevice(
            name: name,
            platform: .android,
            model: model,
            osVersion: osVersion,
            screen: pixels,
            scale: 1
        )
    }
}
