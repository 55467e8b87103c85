internal import Attribution
internal import DomainFiles
internal import JSON

/// The JSON form of the copies of domain files, a part of a statistics report.
struct DomainCopiesBody {
    let copies: [DomainCopy]

    func write(to json: inout JSONWriter) {
        json.name("domain_files")
        json.array { json in
            for copy in copies {
                json.object { json in
                    json.member("host", copy.host.text)
                    json.member("file", copy.file.rawValue)
                    json.member("copy", copy.holder.rawValue)
                    switch copy.state {
                    case .current: json.member("state", "current")
                    case .differs(let differences):
                        json.member("state", "differs")
                        json.member("differences") { $0.texts(differences) }
                    case .unknown(let reason):
                        json.member("state", "unknown")
                        json.member("reason", reason)
                    }
                    json.member("since", copy.since.iso8601)
                }
            }
        }
    }
}
