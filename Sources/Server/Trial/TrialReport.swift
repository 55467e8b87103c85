internal import Attribution

/// A trial's result with the requests that were sent.
public struct TrialReport: Sendable {
    public let result: TrialResult
    public let click: ClientRequest
    /// Nil if the click was refused.
    public let launch: ClientRequest?

    public init(_ result: TrialResult, click: ClientRequest, launch: ClientRequest?) {
        self.result = result
        self.click = click
        self.launch = launch
    }

    /// Writes everything as JSON.
    public func write(to json: inout JSONWriter) {
        let (trial, reading) = (result.trial, result.reading)
        json.object { json in
            json.member("profile", trial.profile.name)
            json.member("device", trial.device.name)
            json.member("sdk", trial.release.name)
            json.member("form", trial.release.form.rawValue)
            json.member("as", trial.poster.rawValue)
            json.member("result", result.word)
            json.member("matched", result.isMatched)
            json.member("expected", result.isMatchExpected)
            json.member("as_expected", result.isAsExpected)
            json.member("robot", reading.isRobot)
            json.member("canonical") { json in
                json.object { json in
                    for (name, value) in reading.values { json.member(name, value) }
                }
            }
            json.member("found_by") { json in
                json.array { json in for made in reading.made { Self.write(made, to: &json) } }
            }
            json.member("launch") { writeLaunch(to: &$0) }
            json.member("click_answer") { Self.write(result.click.status, result.click.body, to: &$0) }
            if let answer = result.launch {
                json.member("launch_answer") { Self.write(answer.status, answer.body, to: &$0) }
            }
            json.member("explanation") { json in
                json.array { json in for sentence in result.explanation { json.value(sentence) } }
            }
        }
    }

    private static func write(_ made: TrialAnalysis.Made, to json: inout JSONWriter) {
        json.object { json in
            json.member("form", made.input.form.rawValue)
            json.member("text", made.input.text)
            json.member("weight", made.weight)
            json.member("fingerprint", made.input.fingerprint.hex)
        }
    }

    private func writeLaunch(to json: inout JSONWriter) {
        let launch = result.reading.launch
        json.object { json in
            json.member("text", launch.text)
            json.member("fingerprint", launch.fingerprint.hex)
            json.member("token", result.token == .brought)
            json.member("components") { json in
                json.array { json in
                    for component in result.reading.components { Self.write(component, to: &json) }
                }
            }
        }
    }

    private static func write(_ component: TrialAnalysis.Component, to json: inout JSONWriter) {
        json.object { json in
            json.member("component", component.component.rawValue)
            json.member("hashed", component.isHashed)
            json.member("launch", component.launch)
            json.member("fits", component.fits)
            json.member("click") { json in
                json.array { json in
                    for spelling in component.click {
                        json.object { json in
                            json.member("text", spelling.text)
                            json.member("weight", spelling.weight)
                        }
                    }
                }
            }
        }
    }

    /// The answer as it came, where it is JSON.
    private static func write(_ status: Int, _ body: String, to json: inout JSONWriter) {
        json.object { json in
            json.member("status", status)
            if (try? JSONValue(parsing: Array(body.utf8))) != nil {
                json.member("body") { $0.raw(body.utf8) }
            } else {
                json.member("body", body)
            }
        }
    }
}
