/// What figures must reach.
enum Bar {
    enum Requirement {
        case atLeast(Double)
        case atMost(Double)
        case below(Double)
    }

    /// All of them, in one place, but for those of simulated worlds.
    private static let all: [FigureName: Requirement] = [
        .checksOfNginx: .atLeast(0.80),
        .clicksOfPlainLoop: .atLeast(0.50),
        .clicksOfCommitPerRow: .atLeast(4),
        .matchesOfClicks: .atLeast(0.6),
        .hotKeyGrowth: .atMost(2),
        .hotKeyGrowthWithoutAddresses: .atMost(2),
        .checkLatencyGrowth: .atMost(1.3),
        .statisticsGrowth: .atMost(1.5),
        .statisticsMilliseconds: .below(5),
        .iPhonePageMicroseconds: .below(1000),
        .androidPageMicroseconds: .below(1000),
        .computerPageMicroseconds: .below(1000),
        .cleanStartMilliseconds: .below(150),
        .startAfterKillMilliseconds: .below(2000),
        .idleMegabytes: .below(30),
        .idleConnectionsMegabytes: .below(120),
        .loadedMegabytes: .below(300),
        .mixedTailMilliseconds: .below(25),
        .mixedTailBesideMilliseconds: .below(25),
        .retentionTailGrowth: .atMost(1.5),
        .newConnectionsOfNginx: .atLeast(0.8),
        .tlsOfNginx: .atLeast(0.8),
        .tlsResumptionOfNginx: .atLeast(0.8),
        .soakMemoryGrowthPercent: .atMost(5),
        .soakDescriptorGrowthPercent: .atMost(5),
        .soakLogMegabytes: .below(128),
    ]

    static func of(_ figure: FigureName) -> Requirement? { all[figure] }
}

extension Bar.Requirement {
    func isReached(by value: Double) -> Bool {
        switch self {
        case .atLeast(let bound): value >= bound
        case .atMost(let bound): value <= bound
        case .below(let bound): value < bound
        }
    }

    var text: String {
        switch self {
        case .atLeast(let bound): "≥ \(NumberText.short(bound))"
        case .atMost(let bound): "≤ \(NumberText.short(bound))"
        case .below(let bound): "< \(NumberText.short(bound))"
        }
    }
}
