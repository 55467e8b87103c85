internal import Attribution
internal import HTTPServer
internal import Server

extension Diagnosis {
    /// Probes whether the domains that apps name for Apple's postbacks lead to this database's servers.
    static func applePostbacks(_ configuration: Configuration, _ directory: Directory, at now: Timestamp)
        async -> [Diagnosis]
    {
        let hosts = Set(directory.apps.compactMap(\.settings.links.apple.postbackHost))
        guard !hosts.isEmpty else { return [] }
        let target = directory.apps.flatMap(\.settings.links.hosts).first?.text ?? "links.example.com"
        let snippets = ProxySnippet.all(target: target).map { "\($0.name):\n\($0.text)" }
        let advice =
            "pass the paths on in the web server of the domain, with one of these settings:\n"
            + snippets.joined(separator: "\n")
        do {
            let database = try CommandDatabase.open(configuration)
            defer { database.close() }
            let client = OutgoingRequests.publicOnly()
            var diagnoses: [Diagnosis] = []
            for host in hosts.sorted(by: { $0.text < $1.text }) {
                let findings = try await ApplePostbackProbe.run(
                    host,
                    database.applePostbacks,
                    at: now,
                    random: .system
                ) { request in
                    do throws(HTTPSFailure) { return .success(try client.send(request)) } catch {
                        return .failure(error)
                    }
                }
                diagnoses += findings.map { finding in
                    let text = "https://\(host.text)\(finding.path): \(finding.text)"
                    return finding.isReached
                        ? .ok("apple-postbacks", text) : .problem("apple-postbacks", text)
                }
            }
            // All these problems have the same remedy.
            if let last = diagnoses.lastIndex(where: { $0.status == .problem }) {
                diagnoses[last] = diagnoses[last].advising(advice)
            }
            return diagnoses
        } catch { return [.problem("apple-postbacks", error)] }
    }
}
