/// How much is stored and held for the rows.
struct Scale {
    var liveClicks = 1_000_000
    var storedClicks = 10_000_000
    /// Of the stored ones: what a day brings of a year's traffic.
    var liveOfStored = 27_397
    var fewClicks = 10_000
    var veryFewClicks = 1_000
    var expiredClicks = 1_000_000
    var hotClicks = 20_000
    var hotChecks = 400
    var idleConnections = 10_000
    var soakSeconds = 600.0

    init(_ options: Options) {
        if options.isLong { soakSeconds = 3600 }
        guard options.isQuick else { return }
        liveClicks = 50_000
        storedClicks = 40_000
        liveOfStored = 1_000
        fewClicks = 2_000
        expiredClicks = 20_000
        hotClicks = 500
        hotChecks = 20
        idleConnections = 300
        soakSeconds = 3
    }
}
