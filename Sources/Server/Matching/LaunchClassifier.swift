internal import Attribution
internal import HTTPServer

/// What the watch on match rates counts launches by, as their header fields tell it.
///
/// Of one event loop, and touched on its thread alone. The launches of an app come from few kinds of clients: what the
/// fields of each say is read once, because most launches end without anything else being read of them.
final class LaunchClassifier {
    private struct Kind {
        let platform: Platform
        let release: OSRelease?
        let sdk: SDKVersion?
    }

    /// By a hash of the fields under a seed that nobody outside knows.
    private var kinds: [Int: Kind] = [:]
    /// Beyond it all are forgotten: what strangers write into headers must not fill the memory.
    private static let limit = 512

    /// The platform and the release are what the body says, else what the fields say; `X-Device-Signals` comes last.
    func counted(
        _ request: Request,
        on platform: Platform?,
        told: OSRelease?,
        _ devices: DeviceData
    ) -> CountedLaunch {
        let kind = kind(of: request, devices)
        let release =
            told ?? kind.release
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
        let kind = Kind(
            platform: LaunchFields.platform(request),
            release: request.field("user-agent").flatMap {
                OSRelease(launchAgent: $0, releases: devices.releases)
            },
            sdk: sdk ?? nil
        )
        if kinds.count >= Self.limit { kinds.removeAll(keepingCapacity: true) }
        kinds[hash] = kind
        return kind
    }

    private static func combine(_ bytes: Span<UInt8>, into hasher: inout Hasher) {
        // The hasher reads the bytes while they are lent.
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }
}
