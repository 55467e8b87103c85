package import Attribution

/// A release of the SDK as it is in the stores: what it hashes and what it sends at the first launch.
package struct SDKRelease: Sendable {
    /// The word on the command line: `1.8.9`, `android`.
    package let name: String
    package let platform: Platform
    package let form: FingerprintForm
    /// `X-SDK-Version`, which several releases share.
    let versionField: String
    /// Whether it sends `X-Device-Platform`.
    let namesPlatform: Bool
    /// Whether it sends its values, and leaves it to the server to hash them.
    package var sendsRawSignals = false

    /// Source: the SDKs' public code, read release by release.
    package static let all = [
        iOS("1.7.1", .a, says: "1.6.0"),
        iOS("1.8.5", .b, says: "1.8.3"),
        iOS("1.8.6", .c, says: "1.8.3"),
        iOS("1.8.7", .c, says: "1.8.7"),
        iOS("1.8.8", .d, says: "1.8.8"),
        iOS("1.8.9", .d, says: "1.8.9"),
        SDKRelease(
            name: "android",
            platform: .android,
            form: .c,
            versionField: "paylisher-android/1.0.0",
            namesPlatform: false
        ),
    ]

    /// A newer client, which asks `POST …/resolve`; the server makes of its values the form that holds least.
    static func withValues(on platform: Platform) -> SDKRelease {
        SDKRelease(
            name: "resolve",
            platform: platform,
            form: platform == .ios ? .d : .c,
            versionField: "simulated-\(platform.rawValue)/2.0.0",
            namesPlatform: false,
            sendsRawSignals: true
        )
    }

    /// The newest of a platform.
    static func newest(on platform: Platform) -> SDKRelease? {
        all.last { $0.platform == platform }
    }

    private static func iOS(_ name: String, _ form: FingerprintForm, says version: String) -> SDKRelease {
        SDKRelease(
            name: name,
            platform: .ios,
            form: form,
            versionField: "paylisher-ios/\(version)",
            namesPlatform: version == name
        )
    }
}
