@_exported public import AfterlinkCore
public import Foundation

extension Afterlink {
    /// Creates a connection that sends requests with the system's URL loading.
    ///
    /// - Parameters:
    ///   - server: the address of the Afterlink server, such as `https://links.example`.
    ///   - appKey: the app's key, which starts with `app_`, or with `test_` for test clicks.
    ///   - options: where files are stored, which links are the app's, and other choices.
    ///   - signals: returns the values of the device; called before each request of a first launch.
    public convenience init(
        server: URL,
        appKey: String,
        options: Options = Options(),
        signals: @escaping @Sendable () async -> Signals
    ) {
        self.init(
            Configuration(
                server: server,
                appKey: appKey,
                options: options,
                transport: URLSessionTransport(),
                signals: signals
            )
        )
    }
}

#if canImport(UIKit) && !os(watchOS)
public import UIKit

extension Afterlink {
    /// Creates the connection of an app on iOS, iPadOS, tvOS or visionOS.
    ///
    /// - Parameters:
    ///   - server: the address of the Afterlink server, such as `https://links.example`.
    ///   - appKey: the app's key, which starts with `app_`.
    ///   - options: the app's choices.
    public convenience init(server: URL, appKey: String, options: Options = Options()) {
        self.init(server: server, appKey: appKey, options: options, signals: { await .device() })
    }

    /// Passes on the links that a scene was opened with.
    ///
    /// Call it first in `scene(_:willConnectTo:options:)`.
    @MainActor public func opened(_ options: UIScene.ConnectionOptions) async {
        let urls = options.urlContexts.map(\.url) + options.userActivities.compactMap(Self.link(of:))
        for url in urls { await opened(url) }
    }

    /// Passes on the links of `scene(_:openURLContexts:)`, which have the app's scheme.
    @MainActor public func opened(_ contexts: Set<UIOpenURLContext>) async {
        let urls = contexts.map(\.url)
        for url in urls { await opened(url) }
    }

    /// Passes on the universal link of `scene(_:continue:)`.
    ///
    /// - Returns: whether the activity has a link.
    @MainActor @discardableResult public func opened(_ activity: NSUserActivity) async -> Bool {
        guard let url = Self.link(of: activity) else { return false }
        await opened(url)
        return true
    }

    @MainActor private static func link(of activity: NSUserActivity) -> URL? {
        activity.activityType == NSUserActivityTypeBrowsingWeb ? activity.webpageURL : nil
    }
}

#if !os(tvOS)
extension Afterlink {
    /// Returns whether to show a paste button: true at most once, if the pasteboard probably has a web address.
    ///
    /// The system determines this without a dialog and without revealing the content. Show `UIPasteControl`, or
    /// SwiftUI's `PasteButton`, and pass what the person pastes to ``AfterlinkCore/Afterlink/pasted(_:)``.
    @MainActor public func shouldOfferPaste() async -> Bool {
        let isProbable = await withCheckedContinuation { continuation in
            // UIKit may call the closure on another thread. Without `@Sendable` the closure would belong to the main
            // actor, and a call on another thread would end the app.
            UIPasteboard.general.detectPatterns(for: [.probableWebURL]) { @Sendable result in
                continuation.resume(returning: (try? result.get())?.contains(.probableWebURL) ?? false)
            }
        }
        return await shouldOfferPaste(isLinkProbable: isProbable)
    }
}
#endif

extension Signals {
    /// Returns the values of this device, as the system gives them.
    @MainActor static func device() -> Signals {
        var signals = Signals.system()
        signals.model = UIDevice.current.model
        signals.osVersion = UIDevice.current.systemVersion
        #if !os(visionOS)
        let screen = UIScreen.main
        signals.setScreen(width: Double(screen.bounds.width), height: Double(screen.bounds.height))
        signals.scale = Double(screen.scale)
        #endif
        return signals
    }
}
#endif
