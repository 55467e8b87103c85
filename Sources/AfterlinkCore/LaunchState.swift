#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The server's result for a first launch.
enum LaunchAnswer: Hashable, Sendable, Codable {
    case match(Link)
    case campaign(String)
    case none
}

/// The stored state of an installation: its identifier, and the progress of its first launch.
///
/// The value is written before each request and before a result is returned. So if the process is killed at any time,
/// the next launch continues from the stored state, and no result is returned twice.
struct LaunchState: Hashable, Sendable, Codable {
    enum Phase: String, Sendable, Codable {
        /// No request was sent.
        case new
        /// A request may have been sent, and there is no final result yet.
        case asked
        /// The result is stored, and was not returned to the app yet.
        case answered
        /// There is nothing to do.
        case settled
    }

    static let maximumLaunches = 5
    static let maximumAge: TimeInterval = 7 * 86_400

    var installID = RandomID.make()
    var phase = Phase.new
    /// The number of launches that sent a request.
    var launches = 0
    var attempts = 0
    var firstAskedAt: Date?
    /// When the server permits the next request.
    var notBefore: Date?
    var answer: LaunchAnswer?
    /// The token of a link that opened the app; it is sent before ``pastedToken``.
    var openedToken: ClickToken?
    var pastedToken: ClickToken?
    /// The token of the last request, to which a late response belongs.
    var sentToken: ClickToken?
    var hasOfferedPaste = false
    var isOptedOut = false
    /// The identifiers that the server is to erase; nil for none.
    var erasures: [String]?

    enum Step: Sendable {
        case finished
        case wait(seconds: Double)
        case ask(installID: String, token: ClickToken?)
    }

    /// Returns the next step; if it is a request, records the request first.
    ///
    /// - Parameters:
    ///   - now: the time of the device.
    ///   - isNewLaunch: whether this is the process's first request.
    /// - Returns: the step.
    mutating func nextStep(at now: Date, isNewLaunch: Bool) -> Step {
        guard !isOptedOut, phase == .new || phase == .asked else { return .finished }
        if isNewLaunch, isTooLate(at: now) {
            phase = .settled
            return .finished
        }
        // A longer wait means that the clock was set back.
        if let notBefore, case let seconds = notBefore.timeIntervalSince(now), seconds > 0,
            seconds <= Retry.maximumSeconds
        {
            return .wait(seconds: seconds)
        }
        notBefore = nil
        phase = .asked
        attempts += 1
        if isNewLaunch { launches += 1 }
        if firstAskedAt == nil { firstAskedAt = now }
        sentToken = openedToken ?? pastedToken
        return .ask(installID: installID, token: sentToken)
    }

    /// Returns whether the library stops asking, after too many launches or too many days.
    ///
    /// The days count only from the third launch on, because the clock may have been wrong at the first launch.
    private func isTooLate(at now: Date) -> Bool {
        guard launches < Self.maximumLaunches else { return true }
        guard launches >= 2, let firstAskedAt else { return false }
        return now.timeIntervalSince(firstAskedAt) > Self.maximumAge
    }

    /// Stores a result, unless another process has stored one.
    mutating func store(_ answer: LaunchAnswer) {
        guard phase == .asked, !isOptedOut else { return }
        if answer == .none {
            // The other token, or one that came meanwhile, may still find the click.
            if openedToken == sentToken { openedToken = nil }
            if pastedToken == sentToken { pastedToken = nil }
            if openedToken != nil || pastedToken != nil { return }
        }
        (phase, self.answer) = (.answered, answer)
    }

    /// Returns the result for the app, and records that the app has it.
    mutating func take() -> FirstLaunch {
        switch phase {
        case .new, .asked: return isOptedOut ? .settled : .pending
        case .settled: return .settled
        case .answered:
            phase = .settled
            guard !isOptedOut else { return .settled }
            switch answer {
            case .match(let link): return isOfOpenedLink(link) ? Self.credit(link) : .match(link)
            case .campaign(let key): return .campaign(key)
            case .none?, nil: return .none
            }
        }
    }

    /// Returns a match for the app as ``take()`` does; nil if there is none, or if the app has opened its link already.
    mutating func takeLink() -> Link? {
        guard phase == .answered, case .match(let link) = answer, !isOfOpenedLink(link),
            case .match = take()
        else { return nil }
        return link
    }

    /// Returns whether the app has opened the link already, because the click's own link opened the app.
    private func isOfOpenedLink(_ link: Link) -> Bool {
        sentToken != nil && sentToken == openedToken
            && (link.method == "signed_token" || link.method == "click_id")
    }

    private static func credit(_ link: Link) -> FirstLaunch {
        link.campaign.map { .campaign($0) } ?? .settled
    }

    /// Stores a token, and returns whether a request must send it.
    mutating func add(_ token: ClickToken, isPasted: Bool, at now: Date) -> Bool {
        guard !isOptedOut else { return false }
        if phase == .answered || phase == .settled {
            // Without a match, a later token may find one: the person may paste after the result.
            let age = firstAskedAt.map { now.timeIntervalSince($0) } ?? .infinity
            guard answer == LaunchAnswer.none, isPasted || phase == .answered, age <= Self.maximumAge else {
                return false
            }
            (phase, answer) = (.asked, nil)
        }
        if isPasted { pastedToken = token } else { openedToken = token }
        return true
    }

    /// Returns whether to show a paste button; true only once.
    mutating func offerPaste() -> Bool {
        if case .match = answer { return false }
        let isUseful = answer == LaunchAnswer.none || phase == .new || phase == .asked
        guard isUseful, !hasOfferedPaste, !isOptedOut else { return false }
        hasOfferedPaste = true
        return true
    }

    mutating func setOptedOut(_ isOptedOut: Bool) {
        self.isOptedOut = isOptedOut
        if isOptedOut {
            (openedToken, pastedToken) = (nil, nil)
        } else if erasures?.contains(installID) == true {
            installID = RandomID.make()
        }
    }

    /// Forgets the installation, whose identifier stays until the server has erased it.
    ///
    /// - Returns: the identifiers to erase, including the unconfirmed ones of earlier erasures.
    mutating func forget() -> [String] {
        let id = installID
        let due = (erasures ?? []).filter { $0 != id } + [id]
        let hasOfferedPaste = hasOfferedPaste
        self = LaunchState()
        (phase, isOptedOut, self.hasOfferedPaste) = (.settled, true, hasOfferedPaste)
        // The next identifier is made when the person opts in, or when the server has erased this one.
        (installID, erasures) = (id, due)
        return due
    }

    /// Records that the server has erased an identifier.
    mutating func confirmErasure(of id: String) {
        let left = (erasures ?? []).filter { $0 != id }
        erasures = left.isEmpty ? nil : left
        if installID == id { installID = RandomID.make() }
    }
}

/// The pauses between requests.
enum Retry {
    /// The longest pause, in seconds, even if `Retry-After` names a longer one.
    static let maximumSeconds = 3600.0
    /// After this many failures, a process stops asking for its first launch.
    static let maximumAttempts = 30

    /// Computes a pause.
    ///
    /// - Parameters:
    ///   - failures: the number of failures in a row, from 1.
    ///   - retryAfter: the value of `Retry-After`, in seconds; ignored if it is shorter than the computed pause.
    ///   - random: a number from 0 to 1, so that clients do not all return at the same time.
    /// - Returns: the seconds to wait.
    static func seconds(after failures: Int, retryAfter: String?, random: Double = .random(in: 0...1))
        -> Double
    {
        let doubled = 0.4 * Double(1 << min(max(failures, 1) - 1, 10))
        let own = min(doubled, 60) * (0.8 + 0.4 * random)
        guard let seconds = retryAfter.flatMap({ Double($0.trimmed) }), seconds > own else { return own }
        return min(seconds, maximumSeconds)
    }
}
