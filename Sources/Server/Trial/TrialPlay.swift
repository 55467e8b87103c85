internal import Attribution
internal import JSON

extension Trial {
    /// What Google Play reports with a launch; the raw value is the word on the command line.
    public enum PlayReport: String, CaseIterable, Sendable {
        /// Times of an honest installation.
        case none
        /// The installation began before the store click.
        case injection
        /// The store click came long before the click: earlier than the widest bounds allow.
        case spamming

        /// The seconds from the click to the store click, and from the store click to the beginning of the
        /// installation.
        private var delays: (storeClick: Int64, begin: Int64) {
            switch self {
            case .none: (5, 10)
            case .injection: (15, -10)
            case .spamming: (-PlayBounds.allowedSeconds.upperBound - 1, 10)
            }
        }

        /// Returns the report on an installation that a click's token led to, as JSON.
        func text(token: String, clickedAt: Timestamp) -> String {
            let storeClick = clickedAt.milliseconds / 1000 + delays.storeClick
            let begin = storeClick + delays.begin
            return JSONWriter.object { json in
                json.member("installReferrer", "\(ClickReference.linkName)=\(token)")
                for (click, installation) in [
                    (PlayInstall.Time.storeClickOnDevice, PlayInstall.Time.installBeginOnDevice),
                    (.storeClick, .installBegin),
                ] {
                    json.member(click.rawValue, storeClick)
                    json.member(installation.rawValue, begin)
                }
                json.member(PlayInstall.versionName, "1.0")
                json.member(PlayInstall.instantName, false)
            }.text
        }
    }
}
