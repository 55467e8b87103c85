/// One figure of a model, for people and programs.
public struct ModelFigure: Equatable, Sendable {
    /// As in JSON: lower case with underscores.
    public let name: String
    /// What it means, in a line.
    public let meaning: String
    public let value: Double

    public init(_ name: String, _ value: Double, _ meaning: String) {
        self.name = name
        self.meaning = meaning
        self.value = value
    }
}

extension MatchingModel {
    /// What has been learnt, or the prior where nothing has, in the order in which it is best read.
    public var figures: [ModelFigure] { traffic + lanes + delays + addresses }

    private var traffic: [ModelFigure] {
        [
            ModelFigure("launches", launches, "Launches learnt from; a launch of two days ago counts half"),
            ModelFigure(
                "launches_with_address",
                launchesWithAddress,
                "Of these, those whose address is known"
            ),
            ModelFigure(
                "organic_per_click",
                organicPerClick,
                "Launches that no click led to, for each click with the same fingerprint"
            ),
            ModelFigure("present_activity", presentActivity, "Such launches now, of their average"),
            ModelFigure("click_address_share", clickAddressShare, "Share of clicks whose address is known"),
        ]
    }

    private var lanes: [ModelFigure] {
        sharesByPlatformForm.sorted { $0.key < $1.key }.flatMap { code, share -> [ModelFigure] in
            guard let lane = PlatformForm(code: code) else { return [] }
            let form = lane.form.map { "form \($0.rawValue)" } ?? "ready-made fingerprints"
            let name = "\(lane.platform.rawValue)_\(lane.form?.rawValue.lowercased() ?? "ready_made")"
            let words = "\(lane.platform.rawValue), \(form)"
            return [
                ModelFigure("conversions_\(name)", share.conversions, "Conversions for each click: \(words)"),
                ModelFigure("share_\(name)", share.share, "Share of the platform's conversions: \(words)"),
            ]
        }
    }

    private var delays: [ModelFigure] {
        let moments: [(name: String, words: String, seconds: Double)] = [
            ("10_minutes", "ten minutes", 600), ("1_hour", "an hour", 3600), ("1_day", "a day", 86_400),
        ]
        return moments.map { moment in
            ModelFigure(
                "launched_within_\(moment.name)",
                shareLaunched(within: moment.seconds),
                "Share of conversions whose launch comes within \(moment.words) of the click"
            )
        }
    }

    private var addresses: [ModelFigure] {
        let names = ["10_minutes", "1_hour", "4_hours", "12_hours", "later"]
        return zip(ClickAge.allCases, names).flatMap { age, name in
            [
                ModelFigure(
                    "same_address_\(name)",
                    agreement(age).exact,
                    "One device has the same address again: \(name.replacingUnderscores)"
                ),
                ModelFigure(
                    "near_address_\(name)",
                    agreement(age).near,
                    "One device has an address near by: \(name.replacingUnderscores)"
                ),
            ]
        }
    }

    private func shareLaunched(within seconds: Double) -> Double {
        (0..<DelayBins.count).reduce(0) { sum, bin in
            let range = DelayBins.bounds(ofBin: bin)
            let covered = min(max(seconds - range.lowerBound, 0), range.upperBound - range.lowerBound)
            return sum + delayDensity[bin] * covered
        }
    }
}

extension String {
    fileprivate var replacingUnderscores: String { String(map { $0 == "_" ? " " : $0 }) }
}
