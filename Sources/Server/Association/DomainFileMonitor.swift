package import Attribution
public import DomainFiles
internal import HTTPServer
internal import Synchronization

/// Polls the copies of domain files that phones read, and compares each with the file that this service makes.
///
/// The service's file has no effect while the link host serves another file, or while Apple or Google has an old copy.
public final class DomainFileMonitor: Sendable {
    /// The addresses of Apple's and Google's copies, with `{host}` in place of the host; nil skips that copy.
    public struct Copies: Sendable {
        public var apple: String? = "https://app-site-association.cdn-apple.com/a/v1/{host}"
        public var google: String? =
            "https://digitalassetlinks.googleapis.com/v1/statements:list?source.web.site=https://{host}"

        public init() {}
    }

    private struct Key: Hashable {
        let host: LinkHost
        let file: DomainFile
        let holder: DomainCopy.Holder
    }

    private let copies: Copies
    private let seen = Mutex<[Key: DomainCopy]>([:])

    public init(_ copies: Copies = Copies()) { self.copies = copies }

    /// The copies that were polled, sorted by host, file and holder.
    public var all: [DomainCopy] {
        seen.withLock { Array($0.values) }.sorted { left, right in
            (left.host.text, left.file.rawValue, left.holder.rawValue)
                < (right.host.text, right.file.rawValue, right.holder.rawValue)
        }
    }

    /// Polls every copy once; blocks until the last request ends.
    ///
    /// - Parameters:
    ///   - directory: the current apps.
    ///   - outgoing: the client that makes the requests.
    ///   - now: the time of the poll.
    ///   - log: gets a line for each copy whose state has changed; at the first poll, a line for each copy that
    ///     differs from this service's file or could not be read.
    ///   - mustStop: called before the requests for each holder of a host's copies; true ends the poll.
    ///   - noteChange: called for each copy whose state has changed since the previous poll.
    package func pollAll(
        _ directory: Directory,
        by outgoing: OutgoingRequests,
        at now: Timestamp,
        _ log: Log,
        unless mustStop: () -> Bool = { false },
        noteChange: (DomainCopy) -> Void = { _ in }
    ) {
        let hosts = Set(directory.apps.flatMap(\.settings.links.hosts))
        for host in hosts.sorted(by: { $0.text < $1.text }) {
            let apps = directory.apps(listing: host)
            let apple = AppleAssociation(apps: apps)
            let google = AssetLinks(host: host, apps: apps)
            for holder in DomainCopy.Holder.allCases where !mustStop() {
                if holder != .google, let url = url(of: .apple, holder, host) {
                    let state = Self.state(.apple, url, outgoing) { $0.apple.map(apple.differences) }
                    record(state, of: Key(host: host, file: .apple, holder: holder), at: now, log, noteChange)
                }
                if holder != .apple, let url = url(of: .google, holder, host) {
                    let state =
                        holder == .google
                        ? Self.stateOfGoogleCopy(url, outgoing, google)
                        : Self.state(.google, url, outgoing) { $0.google.map(google.differences) }
                    record(
                        state,
                        of: Key(host: host, file: .google, holder: holder),
                        at: now,
                        log,
                        noteChange
                    )
                }
            }
        }
        // Forget hosts that no app lists any more.
        seen.withLock { seen in seen = seen.filter { hosts.contains($0.key.host) } }
    }

    private func record(
        _ state: DomainCopy.State,
        of key: Key,
        at now: Timestamp,
        _ log: Log,
        _ noteChange: (DomainCopy) -> Void
    ) {
        let (copy, before) = seen.withLock { seen in
            let before = seen[key]
            let since = before?.state == state ? before?.since ?? now : now
            let (host, file, holder) = (key.host, key.file, key.holder)
            let copy = DomainCopy(host: host, file: file, holder: holder, state: state, since: since)
            seen[key] = copy
            return (copy, before?.state)
        }
        guard before != state else { return }
        if before != nil { noteChange(copy) }
        switch state {
        case .current where before != nil: log.event(.info, "\(copy.title) is correct again")
        case .current: break
        case .differs(let differences):
            let list = differences.prefix(5).joined(separator: "; ")
            log.event(.warning, "\(copy.title) differs from this service's file: \(list)")
        case .unknown(let reason): log.event(.warning, "\(copy.title) could not be read: \(reason)")
        }
    }

    /// Returns the address of a file's copy; nil if the copy is skipped, or its address is not a URL.
    private func url(of file: DomainFile, _ holder: DomainCopy.Holder, _ host: LinkHost) -> WebURL? {
        let address =
            switch holder {
            case .live: "https://{host}\(file.path)" as String?
            case .apple: copies.apple
            case .google: copies.google
            }
        return address.flatMap { try? WebURL(parsing: $0.replacing("{host}", with: host.text)) }
    }

    /// Fetches a file and compares it by `differences`, which returns nil for a file that it cannot read.
    private static func state(
        _ kind: DomainFile,
        _ url: WebURL,
        _ outgoing: OutgoingRequests,
        _ differences: (DomainFileValidation) -> [String]?
    ) -> DomainCopy.State {
        let file = DomainFileValidation.fetch(kind, url, by: outgoing.client)
        guard file.byteCount != nil, let differences = differences(file) else {
            let error = file.findings.first { $0.severity == .error }
            return .unknown(error?.problem ?? "the file does not exist")
        }
        return differences.isEmpty ? .current : .differs(differences)
    }

    /// Fetches Google's copy, which has another JSON form than the file, and compares it.
    private static func stateOfGoogleCopy(
        _ url: WebURL,
        _ outgoing: OutgoingRequests,
        _ expected: AssetLinks
    ) -> DomainCopy.State {
        guard let request = HTTPSRequest(url) else { return .unknown("the address cannot be requested") }
        do throws(HTTPSFailure) {
            let response = try outgoing.client.send(request)
            guard response.status == 200 else {
                return .unknown("the response has the status \(response.status)")
            }
            guard let found = AssetLinks(googleStatements: response.body) else {
                return .unknown("the response is not JSON")
            }
            let differences = expected.differences(from: found)
            return differences.isEmpty ? .current : .differs(differences)
        } catch { return .unknown(error.message) }
    }
}
