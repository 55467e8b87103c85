internal import Attribution
internal import DomainFiles
internal import HTTPServer

/// The alarms about the needs of the service, such as its domain files, its certificate and its disk.
extension OverviewPage {
    /// If a certificate is valid for less than this time in milliseconds, or the disk has fewer free bytes,
    /// there is an alarm; `afterlink doctor` has the same limits.
    private static let (certificateLimit, freeLimit): (Int64, Int64) = (21 * 86_400_000, 1_000_000_000)

    /// Returns the sentences about differing domain files, a certificate that expires soon, and a nearly full disk.
    static func machineAlarms(_ exchange: Exchange) -> [String] {
        let service = exchange.service
        let hosts = Set(exchange.directory.apps.flatMap(\.settings.links.hosts))
        let copies = (service.settings.domainWatch?.all ?? []).filter { hosts.contains($0.host) }
        var alarms = copies.compactMap(DashboardText.alarm)
        // The machine serves all apps.
        guard exchange.onlyApp == nil else { return alarms }
        if let expiry = service.connections().certificateExpiry {
            let left = expiry * 1000 - exchange.now.milliseconds
            if left < certificateLimit {
                alarms.append(DashboardText.certificateEnds(expiry, at: exchange.now))
            }
        }
        if let free = service.storeHealth().freeBytes, free < freeLimit {
            alarms.append(DashboardText.diskFills(free))
        }
        return alarms
    }
}
