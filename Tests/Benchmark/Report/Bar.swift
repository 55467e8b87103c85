/// What a figure must reach.
struct Bar {
    enum Requirement {
        case atLeast(Double)
        case atMost(Double)
        case below(Double)
    }

    let figure: FigureName
    let requirement: Requirement

    init(_ figure: FigureName, _ requirement: Requirement) {
        self.figure = figure
        self.requirement = requirement
    }

    /// All of them, in one place.
    static let all = [
        Bar(.checksOfNginx, .atLeast(0.80)),
        Bar(.clicksOfPlainLoop, .atLeast(0.50)),
        Bar(.clicksOfCommitPerRow, .atLeast(4)),
        Bar(.matchesOfClicks, .atLeast(0.6)),
        Bar(.checkLatencyGrowth, .atMost(1.3)),
        Bar(.statisticsGrowth, .atMost(1.5)),
        Bar(.statisticsMilliseconds, .below(5)),
        Bar(.cleanStartMilliseconds, .below(150)),
        Bar(.startAfterKillMilliseconds, .below(2000)),
        Bar(.idleMegabytes, .below(30)),
        Bar(.idleConnectionsMegabytes, .below(120)),
        Bar(.loadedMegabytes, .below(300)),
        Bar(.mixedTailMilliseconds, .below(25)),
        Bar(.mixedTailBesideMilliseconds, .below(25)),
        Bar(.retentionTailGrowth, .atMost(1.5)),
        Bar(.newConnectionsOfNginx, .atLeast(0.8)),
        Bar(.tlsOfNginx, .atLeast(0.8)),
        Bar(.tlsResumptionOfNginx, .atLeast(0.8)),
        Bar(.soakMemoryGrowthPercent, .atMost(5)),
        Bar(.soakDescriptorGrowthPercent, .atMost(5)),
        Bar(.soakLogMegabytes, .below(128)),
    ]

    static func of(_ figure: FigureName) -> Bar? {
        all.first { $0.figure == figure }
    }

    func isReached(by value: Double) -> Bool {
        switch requirement {
        case .atLeast(let bound): value >= bound
        case .atMost(let bound): value <= bound
        case .below(let bound): value < bound
        }
    }

    var text: String {
        switch requirement {
        case .atLeast(let bound): "≥ \(NumberText.short(bound))"
        case .atMost(let bound): "≤ \(NumberText.short(bound))"
        case .below(let bound): "< \(NumberText.short(bound))"
        }
    }
}
