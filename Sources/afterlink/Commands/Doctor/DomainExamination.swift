internal import Attribution
internal import DomainFiles

extension Diagnosis {
    /// Validates the domain files that the service generates for link hosts.
    ///
    /// Nothing is fetched: `afterlink check-domain` validates what a host serves.
    static func domainFiles(_ directory: Directory) -> [Diagnosis] {
        let hosts = Set(directory.apps.flatMap(\.settings.links.hosts)).sorted { $0.text < $1.text }
        guard !hosts.isEmpty else { return [] }
        var warnings: [Diagnosis] = []
        for host in hosts {
            let files = DomainFileValidation.generated(for: host, of: directory.apps(listing: host))
            // A file of two bytes is empty, because no app on the host has an id of the platform.
            let filled = files.filter { $0.body.count > 2 }
            if filled.isEmpty {
                let text = "the generated files of \(host.text) name no app"
                warnings.append(
                    .warning("domain_files", "\(text), so phones open its links in the browser").advising(
                        "give the app --ios-team and --ios-bundle, or --android-package and --android-certificate, with"
                            + " `afterlink apps set`"
                    )
                )
            }
            for (file, _) in filled {
                for finding in file.findings where finding.severity != .note {
                    let place = "\(host.text)\(file.source) \(finding.place)".trimmed
                    warnings.append(
                        .warning("domain_files", "\(place): \(finding.problem)").advising(finding.advice)
                    )
                }
            }
        }
        guard warnings.isEmpty else { return warnings }
        let count = hosts.count == 1 ? "one link host" : "\(hosts.count) link hosts"
        return [
            .ok(
                "domain_files",
                "the generated files of \(count) follow Apple's and Google's rules; `afterlink check-domain`"
                    + " validates what a host serves"
            )
        ]
    }
}
