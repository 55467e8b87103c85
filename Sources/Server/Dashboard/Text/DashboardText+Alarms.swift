internal import Attribution
internal import DomainFiles

/// The overview's alarms about domain files, the certificate, the disk and similar needs of the service.
extension DashboardText {
    /// Returns the sentence about a copy of a domain file that differs; nil for any other copy.
    static func alarm(_ copy: DomainCopy) -> String? {
        guard case .differs(let differences) = copy.state else { return nil }
        return
            "\(copy.file.rawValue) of \(copy.host.text) differs at \(holder(copy.holder)) since \(time(copy.since)):"
            + " \(differences.joined(separator: "; ")). The page Domains shows this service's file."
    }

    static func certificateEnds(_ seconds: Int64, at now: Timestamp) -> String {
        "The certificate \(expiry(seconds, at: now)). Renew it, and send the service SIGHUP, which reloads it."
    }

    static func diskFills(_ free: Int64) -> String {
        "The disk of the database has \(bytes(max(free, 1))) left. Make room: on a full disk, clicks get 503."
    }
}
