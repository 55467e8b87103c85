internal import Attribution
internal import HTTPServer

/// Classifies launches by platform, system release and SDK version, for the match rates of each group.
///
/// It belongs to one event loop, and only that loop's thread uses it. An app's launches come from few kinds of clients.
/// So the header fields of each kind are parsed once, and later found by their hash.
final class LaunchClassifier {
    private struct Kind {
        let platform: Platform
        let release: OSRelease?
        let sdk: SDKVersion?
    }

    /// The kinds by a hash of their header fields; its random seed prevents strangers from making two kinds collide.
    private var kinds: [Int: Kind] = [:]
    /// If the table has this many kinds, a new kind empties it, so that strangers cannot fill the memory.
    private static let limit = 512

    /// Classifies a launch; `platform` and `release` come from the body, nil if it lacks them.
    ///
    /// The header fields provide what the body lacks: first the user agent and the SDK's fields, then
    /// `X-Device-Signals`.
    func counted(
        _ request: Request,
        on platform: Platform?,
        _ release: OSRelease?,
        _ devices: DeviceData
    ) -> CountedLaunch {
        let kind = kind(of: request, devices)
        let release =
            release ?? kind.release
            ?? DeviceSignalsField.read(request, devices).flatMap { OSRelease($0.system, on: $0.platform) }
        return CountedLaunch(platform: platform ?? kind.platform, release: release, sdk: kind.sdk)
    }

    private func kind(of request: Request, _ devices: DeviceData) -> Kind {
        var hasher = Hasher()
        for name in ["user-agent", "x-sdk-version", "x-device-platform"] {
            request.withFieldBytes(name) { Self.combine($0, into: &hasher) }
            hasher.combine(name.utf8.count)
        }
        let hash = hasher.finalize()
        if let kind = kinds[hash] { return kind }
        let sdk = request.withFieldBytes("x-sdk-version") { SDKVersion(header: $0) }
        let agent = request.field("user-agent")
        let release = agent.flatMap { OSRelease(launchAgent: $0, releases: devices.releases) }
        let kind = Kind(platform: LaunchFields.platform(request), release: release, sdk: sdk ?? nil)
        if kinds.count >= Self.limit { kinds.removeAll(keepingCapacity: true) }
        kinds[hash] = kind
        return kind
    }

    private static func combine(_ bytes: Span<UInt8>, into hasher: inout Hasher) {
        // The pointer is valid inside the closure, and the hasher does not store it.
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }
}
