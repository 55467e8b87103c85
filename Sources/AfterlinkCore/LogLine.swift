#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A line that the library logs.
///
/// No case can hold a key, a token, an identifier or a value of the device.
enum LogLine: CustomStringConvertible, Sendable {
    case asking(attempt: Int, launch: Int, hasToken: Bool)
    case answered(String)
    case failed(reason: String, seconds: Double)
    case refused(status: Int)
    case disk(step: String, code: Int32)
    case late(FirstLaunchKind)
    case eventRejected(field: String?)
    case eventRefused
    case eventsSent(Int)
    case noToken

    enum FirstLaunchKind: String, Sendable {
        case link
        case campaign
    }

    var description: String {
        switch self {
        case .asking(let attempt, let launch, let hasToken):
            "First launch: request \(attempt), launch \(launch), \(hasToken ? "with" : "without") a token."
        case .answered(let kind): "First launch: the server responded \(kind)."
        case .failed(let reason, let seconds):
            "The request failed: \(reason). The next one is "
                + (seconds > 0 ? "in \((seconds * 10).rounded() / 10) s." : "at a later launch.")
        case .refused(let status):
            switch status {
            case 401: "The server does not know the app key. Check `appKey` and `server`."
            case 403: "The app key is of the wrong kind. Use one that starts with `app_` or `test_`."
            case 404: "The server does not have this call. Check `server`, and the server's release."
            default: "The server refused the request with status \(status). The server's log has the reason."
            }
        case .disk(let step, let code):
            "The disk failed at: \(step) (errno \(code)). The library tries again later."
        case .late(let kind): "First launch: a late \(kind.rawValue) was returned."
        case .eventRejected(let field):
            "The server rejected an event. The wrong field is \(field ?? "not named")."
        case .eventRefused:
            "An event was not stored: it is larger than 6 KiB, or has a number that JSON does not permit."
        case .eventsSent(let count): "\(count) events were sent."
        case .noToken: "The pasted text contains no link of this app with a token."
        }
    }
}
