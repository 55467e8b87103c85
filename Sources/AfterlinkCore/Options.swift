#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The choices of an app for its connection.
public struct Options: Sendable {
    /// The folder of the library's files, which must not be part of backups; nil for one in Application Support.
    ///
    /// The library excludes the folder from backups itself. Do not choose a folder that an extension also uses: if the
    /// app is suspended while it holds a lock there, the system ends the app.
    public var folder: URL?
    /// The hosts of the app's links.
    ///
    /// Pasted links of other hosts are ignored; if this is empty, any host is accepted.
    public var linkHosts: [String] = []
    /// Whether the app was used before its first release with this library, so that this is no first launch.
    ///
    /// The library reads the value only when it runs for the first time.
    public var isUpdate = false
    /// A function that gets log lines for a developer; nil for no log.
    ///
    /// They contain no key, token, identifier or value of the device.
    public var log: (@Sendable (String) -> Void)?

    public init() {}
}

/// The values that describe a device, in the system's own spelling.
///
/// The server compares them with the values that the browser reported.
public struct Signals: Hashable, Sendable, Encodable {
    public enum Platform: String, Sendable, Encodable {
        case ios
        case android
    }

    struct Screen: Hashable, Encodable {
        let width: Double
        let height: Double
    }

    public var platform: Platform = .ios
    /// Such as `iPhone`.
    public var model: String?
    /// Such as `iPhone15,2`.
    public var machine: String?
    /// Such as `17.2`.
    public var osVersion: String?
    var screen: Screen?
    /// Pixels per point.
    public var scale: Double?
    /// Such as `Europe/Istanbul`.
    public var timezone: String?
    /// The language that the app runs in.
    public var language: String?
    /// The languages that the person prefers.
    public var languages: [String]?
    /// The languages that the app is translated into.
    public var localizations: [String]?

    public init() {}

    /// Sets the size of the screen, in points on iOS.
    public mutating func setScreen(width: Double, height: Double) {
        screen = Screen(width: width, height: height)
    }

    private enum CodingKeys: String, CodingKey {
        case model, machine, osVersion, screen, scale, timezone, language, languages, localizations
    }
}

/// The server, the key, the options and the environment of a connection.
package struct Configuration: Sendable {
    package var server: URL
    package var appKey: String
    package var options: Options
    package var signals: @Sendable () async -> Signals
    package var transport: any Transport
    package var clock: any ClientClock = SystemClock()
    /// Called with a name before each step on disk, so that tests can end the process there.
    package var willTakeStep: @Sendable (String) -> Void = { _ in }

    package init(
        server: URL,
        appKey: String,
        options: Options = Options(),
        transport: any Transport,
        signals: @escaping @Sendable () async -> Signals = { Signals() }
    ) {
        (self.server, self.appKey, self.options) = (server, appKey, options)
        (self.transport, self.signals) = (transport, signals)
    }

    /// The folder of the library's files.
    var folder: URL {
        options.folder
            ?? (FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory).appendingPathComponent("Afterlink")
    }

    /// Returns the address of a call; the server's own address may have a path.
    func address(of call: String) -> URL { server.appendingPathComponent(call) }
}

/// The clock of the library, which tests replace.
package protocol ClientClock: Sendable {
    /// The time of the device, which may be wrong.
    var now: Date { get }

    func sleep(seconds: Double) async throws
}

package struct SystemClock: ClientClock {
    package init() {}

    package var now: Date { Date() }

    package func sleep(seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 1_000_000) * 1_000_000_000))
    }
}
