internal import JSON

/// A finding of `afterlink doctor`.
package struct Diagnosis: Equatable, Sendable {
    package enum Status: String, Sendable {
        case ok
        /// Works, and should be changed.
        case warning
        /// Does not work, or is not safe.
        case problem
    }

    package let status: Status
    /// A word for scripts; several lines may share it.
    package let name: String
    package let text: String
    /// What to do; nil if there is nothing to do.
    package let advice: String?

    static func ok(_ name: String, _ text: String) -> Diagnosis {
        Diagnosis(status: .ok, name: name, text: text, advice: nil)
    }

    /// A warning or a problem, which becomes a finding with what to do about it.
    struct Cause {
        fileprivate let status: Status
        fileprivate let name: String
        fileprivate let text: String

        func advising(_ advice: String) -> Diagnosis {
            Diagnosis(status: status, name: name, text: text, advice: advice)
        }
    }

    static func warning(_ name: String, _ text: String) -> Cause {
        Cause(status: .warning, name: name, text: text)
    }

    static func problem(_ name: String, _ text: String) -> Cause {
        Cause(status: .problem, name: name, text: text)
    }

    /// The failure of a command that needs the examined thing.
    static func problem(_ name: String, _ error: any Error) -> Diagnosis {
        let (text, advice) = CommandFailure(describing: error).finding
        return problem(name, text).advising(advice)
    }

    /// One line.
    package var line: String {
        let text = "\(status.rawValue.padded(to: 7))  \(name): \(text)" + (advice.map { "; \($0)" } ?? "")
        return Table.printable(text)
    }

    /// As in `{"ok":true,"checks":[{"status":"ok","name":"clock","text":"…"}]}`.
    package static func json(_ diagnoses: [Diagnosis]) -> String {
        JSONWriter.text { json in
            json.member("ok", !diagnoses.contains { $0.status == .problem })
            json.objects("checks", diagnoses) { diagnosis, json in
                json.member("status", diagnosis.status.rawValue)
                json.member("name", diagnosis.name)
                json.member("text", diagnosis.text)
                json.member("advice", diagnosis.advice)
            }
        }
    }
}
