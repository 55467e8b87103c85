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
