internal import Attribution
internal import HTTPServer
internal import Server

// The modules' own configurations.

extension Configuration {
    var serviceSettings: ServiceSettings {
        var settings = ServiceSettings(version: ProgramVersion.text)
        settings.attributionWindow = attributionWindow
        settings.replayGrace = replayGrace * 1000
        settings.trustedProxies = TrustedProxies(trustedProxies)
        settings.rateLimits = rateLimits
        settings.usesTestClock = usesTestClock
        if domainWatch > 0 { settings.domainWatch = DomainFileMonitor(domainCopies) }
        return settings
    }

    func serverConfiguration(_ tls: TLSTermination?) -> HTTPServerConfiguration {
        var settings = HTTPServerConfiguration(listenAddress: listen, loopCount: threads)
        settings.tls = tls
        settings.limits = limits
        settings.timeouts = timeouts
        if let maximumConnections { settings.maximumConnections = maximumConnections }
        settings.requestMemoryByteCount = requestMemory
        return settings
    }

    /// Nil where metrics have no address of their own, which is for the inside and always speaks plain HTTP.
    var metricsConfiguration: HTTPServerConfiguration? {
        metricsListen.map { HTTPServerConfiguration(listenAddress: $0, loopCount: 1) }
    }
}
