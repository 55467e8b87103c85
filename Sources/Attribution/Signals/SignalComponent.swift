/// One property of a device that goes into fingerprints.
///
/// The raw value is the word in error messages.
public enum SignalComponent: String, CaseIterable, Sendable {
    case model
    case osVersion
    /// Both sides in points.
    case screen
    /// The shorter side in pixels.
    case width
    case timezone
    case language

    /// Its place among all cases.
    var position: Int {
        switch self {
        case .model: 0
        case .osVersion: 1
        case .screen: 2
        case .width: 3
        case .timezone: 4
        case .language: 5
        }
    }

    /// The fields of a click's `signals` that it is read from.
    public var fields: [String] {
        switch self {
        case .model: ["model"]
        case .osVersion: ["osVersion"]
        case .screen: ["screenWidth", "screenHeight"]
        case .width: ["screenWidth", "screenHeight", "pixelRatio"]
        case .timezone: ["timezone"]
        case .language: ["language"]
        }
    }
}
