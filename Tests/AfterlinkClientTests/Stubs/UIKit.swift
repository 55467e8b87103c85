@_exported public import Foundation

// The declarations of UIKit that AfterlinkClient uses, as Apple's SDK has them, for the compiler on Linux.

@MainActor open class UIDevice: NSObject {
    public class var current: UIDevice { UIDevice() }
    public var model: String { "" }
    public var systemVersion: String { "" }
}

@MainActor open class UIScreen: NSObject {
    public class var main: UIScreen { UIScreen() }
    public var bounds: CGRect { .zero }
    public var scale: CGFloat { 1 }
}

open class UIPasteboard: NSObject {
    public struct DetectionPattern: Hashable, Sendable {
        public static let probableWebURL = DetectionPattern()
    }

    public class var general: UIPasteboard { UIPasteboard() }

    public func detectPatterns(
        for patterns: Set<DetectionPattern>,
        completionHandler: @escaping (Result<Set<DetectionPattern>, any Error>) -> Void
    ) {}
}

@MainActor open class UIOpenURLContext: NSObject {
    public var url: URL { URL(fileURLWithPath: "/") }
}

@MainActor open class UIResponder: NSObject {}

@MainActor open class UISceneSession: NSObject {}

@MainActor public protocol UIWindowSceneDelegate {}

@MainActor open class UIScene: NSObject {
    @MainActor open class ConnectionOptions: NSObject {
        public var urlContexts: Set<UIOpenURLContext> { [] }
        public var userActivities: Set<NSUserActivity> { [] }
    }
}

@MainActor open class NSUserActivity: NSObject {
    public var activityType: String { "" }
    public var webpageURL: URL? { nil }
}

public let NSUserActivityTypeBrowsingWeb = "NSUserActivityTypeBrowsingWeb"
