package import Attribution
public import DomainFiles
internal import HTTPServer
internal import Synchronization

/// Looks now and then at the domain files of all link hosts, where visitors' phones read them.
///
/// A file that is right here helps nobody while the host shows another one, or Apple and Google still hold an old copy.
public final class DomainFileMonitor: Sendable {
    /// Where Apple and Google show their copies, with `{host}` in the place of the host; nil leaves one out.
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

    public init(_ copies: Copies = Copies()) {
        self.copies = copies
    }

    /// How all copies stand, by host.
    public var all: [DomainCopy] {
        seen.withLock { Array($0.values) }.sorted { left, right in
            (left.host.text, left.file.rawValue, left.holder.rawValue)
                < (right.host.text, right.file.rawValue, right.holder.rawValue)
        }
    }

    /// Looks at every copy once; blocks.
    ///
    /// - Parameters:
    ///   - directory: the apps as they are now.
    ///   - outgoing: makes the calls.
    ///   - now: when this is.
    ///   - log: is told of what has changed since the last time.
    ///   - mustStop: asked between two calls.
    package func look(
        _ directory: Directory,
        by outgoing: OutgoingRequests,
        at now: Timestamp,
        _ log: Log,
        unless mustStop: () -> Bool = { false }
    ) {
        let hosts = Set(directory.apps.flatMap(\.settings.links.hosts))
        for host in hosts.sorted(by: { $0.text < $1.text }) {
            let apps = directory.apps(listing: host)
            let apple = AppleAssociation(apps: apps)
            let google = AssetLinks(host: host, apps: apps)
            for holder in DomainCopy.Holder.allCases where !mustStop() {
                if holder != .google, let state = appleState(apple, host, holder, outgoing) {
                    note(Key(host: host, file: .apple, holder: holder), state, now, log)
                }
                if holder != .apple, let state = googleState(google, host, holder, outgoing) {
                    note(Key(host: host, file: .google, holder: holder), state, now, log)
                }
            }
        }
        // What no app lists any more is nobody's business.
        seen.withLock { seen in seen = seen.filter { hosts.contains($0.key.host) } }
    }

    private func note(_ key: Key, _ state: DomainCopy.State, _ now: Timestamp, _ log: Log) {
        let before = seen.withLock { seen -> DomainCopy.State? in
            let before = seen[key]
            let since = before?.state == state ? before?.since ?? now : now
            seen[key] = DomainCopy(
                host: key.host,
                file: key.file,
                holder: key.holder,
                state: state,
                since: since
            )
            return before?.state
        }
        guard before != state, let copy = seen.withLock({ $0[key] }) else { return }
        switch state {
        case .current where before != nil: log.event(.info, "\(copy.title) is as it should be again")
        case .current: break
        case .differs(let differences):
            let list = differences.prefix(5).joined(separator: "; ")
            log.event(.warning, "\(copy.title) is not what it should be: \(list)")
        case .unknown(let reason): log.event(.warning, "\(copy.title) could not be read: \(reason)")
        }
    }

    private func appleState(
        _ own: AppleAssociation,
        _ host: LinkHost,
        _ holder: DomainCopy.Holder,
        _ outgoing: OutgoingRequests
    ) -> DomainCopy.State? {
        let live = "https://\(host.text)\(DomainFile.apple.path)"
        guard let check = fetch(.apple, holder == .live ? live : copies.apple, host, outgoing) else {
            return nil
        }
        guard let file = check.apple, check.byteCount != nil else { return .unknown(Self.reason(check)) }
        let differences = own.differences(from: file)
        return differences.isEmpty ? .current : .differs(differences)
    }

    private func googleState(
        _ own: AssetLinks,
        _ host: LinkHost,
        _ holder: DomainCopy.Holder,
        _ outgoing: OutgoingRequests
    ) -> DomainCopy.State? {
        guard holder == .live else { return googleCopyState(own, host, outgoing) }
        let live = "https://\(host.text)\(DomainFile.google.path)"
        guard let check = fetch(.google, live, host, outgoing) else { return nil }
        guard let file = check.google, check.byteCount != nil else { return .unknown(Self.reason(check)) }
        let differences = own.differences(from: file)
        return differences.isEmpty ? .current : .differs(differences)
    }

    private func fetch(
        _ kind: DomainFile,
        _ address: String?,
        _ host: LinkHost,
        _ outgoing: OutgoingRequests
    ) -> DomainFileCheck? {
        guard let address = address.flatMap({ Self.url($0, host) }) else { return nil }
        return DomainFileCheck.fetch(kind, address, by: outgoing.client)
    }

    private static func url(_ address: String, _ host: LinkHost) -> WebURL? {
        try? WebURL(parsing: address.replacing("{host}", with: host.text))
    }

    private static func reason(_ check: DomainFileCheck) -> String {
        check.findings.first { $0.severity == .error }?.problem ?? "it is not there"
    }

    /// Google shows what it has read in a form of its own.
    private func googleCopyState(
        _ own: AssetLinks,
        _ host: LinkHost,
        _ outgoing: OutgoingRequests
    ) -> DomainCopy.State? {
        guard let url = copies.google.flatMap({ Self.url($0, host) }), let request = HTTPSRequest(url) else {
            return nil
        }
        do throws(HTTPSFailure) {
            let answer = try outgoing.client.send(request)
            guard answer.status == 200 else { return .unknown("the answer's status is \(answer.status)") }
            guard let file = GoogleStatements.file(answer.body) else {
                return .unknown("the answer is no JSON")
            }
            let differences = own.differences(from: file)
            return differences.isEmpty ? .current : .differs(differences)
        } catch {
            return .unknown(error.message)
        }
    }
}
