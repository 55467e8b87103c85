package import Attribution

/// How a trial ended, and why.
package struct TrialResult: Sendable {
    package let trial: Trial
    package let reading: TrialAnalysis
    package let click: ClickAnswer
    /// Nil where the click was refused, so that there was nothing to ask for.
    package let launch: LaunchAnswer?
    /// When the launch happened, on a server whose clock is set by its requests.
    let launchedAt: Timestamp?
    let token: Token

    /// Whether the launch brought the click's token.
    package enum Token: Sendable {
        case notWanted
        case brought
        /// It was to, but the server made none for the click.
        case missing
    }

    package init(
        _ trial: Trial,
        click: ClickAnswer,
        launch: LaunchAnswer?,
        launchedAt: Timestamp? = nil,
        token: Token = .notWanted
    ) {
        self.trial = trial
        reading = TrialAnalysis(trial)
        self.click = click
        self.launch = launch
        self.launchedAt = launchedAt
        self.token = token
    }

    /// The launch got this very click, or the one that it was taken for a repetition of.
    package var isMatched: Bool {
        launch?.isMatch == true && (launch?.journey == trial.journey || click.isRepeated)
    }

    /// The launch got another click, which has the same fingerprint and was still open.
    var isMatchedByAnother: Bool { launch?.isMatch == true && !isMatched }

    var isExpired: Bool {
        guard let launchedAt, let expiresAt = click.expiresAt else { return false }
        return expiresAt < launchedAt
    }

    /// Whether the launch has to get the click, by the values of both.
    package var isMatchExpected: Bool {
        !reading.isRobot && !isExpired && (reading.hit != nil || token == .brought)
    }

    /// Whether it ended as the values say that it must.
    package var isAsExpected: Bool {
        guard click.isRecorded else { return reading.made.isEmpty && click.status == 400 }
        guard let launch, launch.isMatch || launch.isNoMatch else { return false }
        // An older click that was still open is no matter of this one, if this one was not to be found.
        return isMatched == isMatchExpected
    }

    /// One or two words for a table.
    package var word: String {
        if !click.isRecorded { return "click refused" }
        if isMatched { return "match" }
        if isMatchedByAnother { return "another click" }
        if launch?.isNoMatch == true { return "no match" }
        return "launch refused"
    }
}
