internal import JSON

/// A finding of `afterlink doctor`.
package struct Diagnosis: Equatable, Sendable {
    package enum Status: String, Sendable {
        case ok
        /// The examined thing works, but should be changed.
        case warning
        /// The examined thing does not work, or is not safe.
        case problem
    }

    package let status: Status
    /// A word for scripts; several findings may share it.
    package let name: String
    package let text: String
    /// What to do; nil if there is nothing to do.
    package private(set) var advice: String?

    static func ok(_ name: String, _ text: String) -> Self { Self(status: .ok, name: name, text: text) }

    static func warning(_ name: String, _ text: String) -> Self {
        Self(status: .warning, name: name, text: text)
    }

    static func problem(_ name: String, _ text: String) -> Self {
        Self(status: .problem, name: name, text: text)
    }

    /// Returns the finding with what to do about it.
    func advising(_ advice: String) -> Diagnosis {
        var diagnosis = self
        diagnosis.advice = advice
        return diagnosis
    }

    /// Creates a problem from the error of a command that needs the examined thing.
    static func problem(_ name: String, _ error: any Error) -> Diagnosis {
        let (text, advice) = CommandFailure(describing: error).finding
        return problem(name, text).advising(advice)
    }

    /// The finding as one line, with further lines indented below it.
    package var line: String {
        let text = "\(status.rawValue.padded(to: 7))  \(name): \(text)" + (advice.map { "; \($0)" } ?? "")
        return text.split(separator: "\n").map { Table.printable(String($0)) }.joined(separator: "\n    ")
    }

    /// Returns findings as `{"ok":true,"checks":[{"status":"ok","name":"clock","text":"…"}]}`.
    package static func json(_ diagnoses: [Diagnosis]) -> String {
        JSONWriter.text { json in
            json.member("ok", !diagnoses.contains { $0.status == .problem })
            json.objects("checks", diagnoses) { json, diagnosis in
                json.member("status", diagnosis.status.rawValue)
                json.member("name", diagnosis.name)
                json.member("text", diagnosis.text)
                json.member("advice", diagnosis.advice)
            }
        }
    }
}
