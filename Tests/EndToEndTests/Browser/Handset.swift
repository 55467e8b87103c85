import Attribution

/// A phone as its apps see it: the system's values, which a release of the SDK hashes.
struct Handset: Sendable {
    /// `UIDevice.model`, `Build.MODEL`.
    let model: String
    /// `UIDevice.systemVersion`, `Build.VERSION.RELEASE`.
    let version: String
    /// The screen's sides in points, the shorter side first; nil on Android.
    let points: String?
    /// The screen's shorter side in pixels.
    let width: String
    /// `TimeZone.current.identifier`, `TimeZone.getDefault().id`.
    var timezone: String
    /// `Locale.current.languageCode`, `Locale.getDefault().language`.
    let language: String

    init(
        _ model: String,
        _ version: String,
        _ points: String? = nil,
        width: String,
        in timezone: String,
        language: String
    ) {
        (self.model, self.version, self.points) = (model, version, points)
        (self.width, self.timezone, self.language) = (width, timezone, language)
    }

    /// Returns the hash of an SDK of this form.
    func fingerprint(_ form: FingerprintForm) -> String {
        let text = form.components.map { component in
            switch component {
            case .model: model
            case .osVersion: version
            case .screen: points ?? ""
            case .width: width
            case .timezone: timezone
            case .language: language
            }
        }.joined(separator: "|")
        return Fingerprint(of: text).hex
    }

    /// The header fields of an app's requests, with the user agent that its system's libraries send.
    var fields: [String: String] {
        guard points != nil else {
            return [
                "User-Agent": "Dalvik/2.1.0 (Linux; U; Android \(version); \(model) Build/UP1A.231005.007)",
                "X-SDK-Version": "paylisher-android/1.0.0", "X-Device-Platform": "android",
            ]
        }
        let numbers = version.split(separator: ".").compactMap { Int($0) }
        let kernel = numbers[0] >= 26 ? numbers[0] - 1 : numbers[0] + 6
        return ["User-Agent": "Shop/1 CFNetwork/1496.0.7 Darwin/\(kernel).\(numbers[1]).0"]
    }
}
