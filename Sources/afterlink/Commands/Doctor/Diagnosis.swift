internal import Server

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

    static func warning(_ name: String, _ text: String, _ advice: String) -> Diagnosis {
        Diagnosis(status: .warning, name: name, text: text, advice: advice)
    }

    static func problem(_ name: String, _ text: String, _ advice: String) -> Diagnosis {
        Diagnosis(status: .problem, name: name, text: text, advice: advice)
    }

    /// The failure of a command that needs the examined thing.
    static func problem(_ name: String, _ error: any Error) -> Diagnosis {
        let (text, advice) = CommandFailure(describing: error).finding
        return problem(name, text, advice)
    }

    /// One line.
    package var line: String {
        let text = "\(status.rawValue.padded(to: 7))  \(name): \(text)" + (advice.map { "; \($0)" } ?? "")
        return Table.printable(text)
    }

    /// As in `{"ok":true,"checks":[{"status":"ok","name":"clock","text":"…"}]}`.
    package static func json(_ diagnoses: [Diagnosis]) -> String {
        var json = JSONWriter()
        json.object { json in
            json.member("ok", !diagnoses.contains { $0.status == .problem })
            json.member("checks") { json in
                json.array { json in
                    for diagnosis in diagnoses {
                        json.object { json in
                            json.member("status", diagnosis.status.rawValue)
                            json.member("name", diagnosis.name)
                            json.member("text", diagnosis.text)
                            json.member("advice", diagnosis.advice)
                        }
                    }
                }
            }
        }
        return json.text
    }
}
