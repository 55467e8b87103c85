internal import Attribution

/// A browser as it was seen: what it sends of itself, and what a page's script reads in it.
package struct BrowserProfile: Sendable {
    /// The word on the command line: `safari-ios-26`.
    package let name: String
    /// For people: which program on which device.
    package let title: String
    /// Where the agent was seen.
    package let source: String
    package let agent: String
    /// The device that it runs on, by ``TrialDevice/name``.
    package let device: String
    /// The system that this very device runs, as apps on it are told.
    package let osVersion: String
    /// The sides of the screen in points, as `screen.width` and `screen.height`.
    let screen: (width: Double, height: Double)
    /// `devicePixelRatio`.
    let pixelRatio: Double
    var touchPoints = 5
    /// Chrome's `getHighEntropyValues(["model", "platformVersion"])`, where the page's script asks for it.
    var scriptHints: (model: String, platformVersion: String)?
    /// Chrome's header fields, beyond the agent; without those that say nothing about the device.
    var fieldHints: [(name: String, value: String)] = []
    /// What a customer's own script says of the device, where the agent says something else.
    var scriptOverrides: (model: String, osVersion: String)?
    var person = TrialPerson.istanbul
    /// Nobody taps a link in it.
    package var isRobot = false

    /// What the page's script reads in it, for this person.
    func signals(of person: TrialPerson) -> DeviceSignals {
        DeviceSignals(
            model: scriptOverrides?.model,
            osVersion: scriptOverrides?.osVersion,
            screenWidth: screen.width,
            screenHeight: screen.height,
            pixelRatio: pixelRatio,
            timezone: person.browserTimezone,
            language: person.languages.first,
            languages: person.languages,
            touchPoints: touchPoints,
            uaModel: scriptHints?.model,
            uaPlatformVersion: scriptHints?.platformVersion
        )
    }

    /// All that are built in, those of iOS first and the robots last.
    package static let all = iOS + android + robots
}
