internal import Attribution

/// Remarks about an import as a whole: about all links that were read, made or not.
struct ImportRemarks {
    private var leftOut: [String: Int] = [:]
    private var strayHosts: [String: Int] = [:]

    /// Counts the columns of a line that have no meaning here, and hosts that are no link hosts of its app.
    mutating func add(_ entry: LinkFile.Entry, of app: AppLinks) {
        for column in Set(entry.leftOut) { leftOut[column, default: 0] += 1 }
        guard let host = entry.host, !app.hosts.contains(where: { $0.text == host }) else { return }
        strayHosts[host, default: 0] += 1
    }

    /// The remarks, as sentences.
    var sentences: [String] {
        let columns = leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        var sentences: [String] = []
        if !columns.isEmpty {
            let counts = columns.map { "\($0.key) (\(Self.links($0.value)))" }.joined(separator: ", ")
            sentences.append("Not taken over, because a link has nothing like it: \(counts).")
        }
        for (host, count) in strayHosts.sorted(by: { $0.key < $1.key }) {
            sentences.append(
                "\(Self.links(count)) \(count == 1 ? "was" : "were") on \(host), which is no link host of the app: there"
                    + " it is reached where the host's DNS leads here and after \"afterlink apps set --link-host \(host)\","
                    + " and else under the app's own link host with the same slug."
            )
        }
        return sentences
    }

    private static func links(_ count: Int) -> String { count == 1 ? "1 link" : "\(count) links" }
}
