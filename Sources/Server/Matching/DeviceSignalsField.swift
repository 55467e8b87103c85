package import Attribution
package import HTTPServer
internal import JSON

/// The signals that newer clients send beside the hash, in the field `X-Device-Signals`.
///
///     {"model":"iPhone","screenWidth":"1170","osMajor":"17","tz":"Europe/Istanbul","lang":"tr"}
///
/// `screenWidth` is the shorter side in pixels, as a text or null. Malformed values are ignored instead of refused,
/// because released clients give up after an error.
package enum DeviceSignalsField {
    package static let name = "x-device-signals"

    private static let maximumTextLength = 255
    /// The allowed pixels of a screen's shorter side.
    private static let widths = 100...100_000
    private static let majors = 1...999

    /// Reads the field; nil where it is missing or not a JSON object.
    package static func read(_ request: Request, _ data: DeviceData) -> CanonicalSignals? {
        guard request.hasField(name), let object = request.field(name).flatMap(object) else { return nil }
        func text(_ name: String) -> String? {
            object[name]?.string.flatMap { $0.utf8.count <= maximumTextLength ? $0 : nil }
        }
        func number(_ name: String, in allowed: ClosedRange<Int>) -> Int? {
            let value = object[name]
            let number = value?.int64.map { Int(clamping: $0) } ?? value?.string.flatMap { Int($0) }
            return number.flatMap { allowed.contains($0) ? $0 : nil }
        }
        var canonical = CanonicalSignals(
            NativeSignals(
                platform: LaunchFields.platform(request),
                model: text("model"),
                timezone: text("tz"),
                language: text("lang")
            ),
            data: data
        )
        canonical.panelWidth = number("screenWidth", in: widths)
        if let major = number("osMajor", in: majors) { canonical.system = .major(major) }
        return canonical
    }

    private static func object(_ text: String) -> JSONObject? {
        // A malformed field counts as missing.
        (try? JSONValue(parsing: Array(text.utf8)))?.object
    }
}
