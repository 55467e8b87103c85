internal import Attribution
internal import DomainFiles
internal import JSON

/// The JSON form of the states of domain file copies, a part of a statistics report.
struct DomainCopiesBody {
    let copies: [DomainCopy]

    func write(to json: inout JSONWriter) {
        json.objects("domain_files", copies) { json, copy in
            json.member("host", copy.host.text)
            json.member("file", copy.file.rawValue)
            json.member("copy", copy.holder.rawValue)
            switch copy.state {
            case .current: json.member("state", "current")
            case .differs(let differences):
                json.member("state", "differs")
                json.member("differences", differences)
            case .unknown(let reason):
                json.member("state", "unknown")
                json.member("reason", reason)
            }
            json.member("since", copy.since.iso8601)
        }
    }
}
