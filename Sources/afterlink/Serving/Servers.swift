internal import HTTPServer
internal import Server

/// The server for everybody, and the one for metrics where these have an address of their own.
struct Servers: Sendable {
    let main: WebServer
    let metrics: WebServer?

    /// Binds the addresses; nothing is accepted before ``start()``, which needs the store and the service.
    init(
        _ configuration: Configuration,
        _ lateStore: SetOnce<OpenStore>,
        _ lateService: SetOnce<Service>,
        _ tls: TLSTermination?
    ) throws {
        main = try WebServer(configuration.serverConfiguration(tls)) { loop in
            try lateService.get().makeHandler(loop: loop, stores: lateStore.get().makeStores())
        }
        metrics = try configuration.metricsConfiguration.map { settings throws(StartError) in
            try WebServer(settings) { _ in
                try lateService.get().makeMetricsHandler(stores: lateStore.get().makeStores())
            }
        }
    }

    func start() throws {
        try metrics?.start()
        try main.start()
    }

    /// Stops both; metrics last, since they show the progress of the stop.
    ///
    /// Blocks until then.
    func stop(within grace: Duration) {
        main.stop(within: grace)
        metrics?.stop(within: .zero)
    }
}
