internal import Attribution
internal import Glibc
internal import Server

/// The server that trials are sent to, and the key that they carry.
struct TrialServer {
    let exchange: Exchange

    /// How long a serving process needs at most to see a key that another process made, in milliseconds.
    private static let keyPatience: Int64 = 5000

    var url: String { exchange.url }

    /// - Throws: if no service is ready there.
    func requireReady() throws {
        let response = try send(ClientRequest("GET /readyz", host: exchange.hostField, []))
        guard response.status == 200 else {
            throw CommandFailure(
                "At \(url), /readyz returns \(response.statusText).",
                advice: response.status == 503
                    ? "The service is not ready; its log says why."
                    : "Name the service's own address with --server."
            )
        }
    }

    private func send(_ request: ClientRequest) throws -> ClientResponse {
        let response = try attempt {
            try exchange.send(request)
        } orElse: { (error: SystemError) in
            CommandFailure(
                "No service answers at \(url): \(error.text).",
                advice: "Start it with `afterlink serve`, or name its address with --server, as in"
                    + " --server http://127.0.0.1:8080."
            )
        }
        if let response { return response }
        throw CommandFailure(
            exchange.overTLS
                ? "What answers at \(url) has no certificate for that name that this machine trusts, or does not speak"
                    + " HTTPS."
                : "What answers at \(url) does not speak HTTP.",
            advice:
                "Name the service's own address with --server; use https:// if it, or the proxy before it, speaks TLS."
        )
    }

    /// Sends a request with a key.
    ///
    /// - Throws: if the server cannot be reached, or refuses the key.
    func send(_ request: ClientRequest, with key: TrialKey) throws -> ClientResponse {
        let start = WallClock.system.now()
        var response = try send(request)
        while response.status == 401, key.isNew,
            WallClock.system.now().milliseconds(since: start) < Self.keyPatience
        {
            usleep(50_000)
            response = try send(request)
        }
        guard response.status == 401 || response.status == 403 else { return response }
        let message = TrialClickResponse(response).message.map { ": \($0)" } ?? ""
        throw CommandFailure(
            "The server at \(url) refuses the key of \(key.origin) with \(response.statusText)\(message).",
            advice: key.app == nil
                ? "Name a file with a key that is valid there, of the kind that --as needs."
                : "It may serve another database than the one here: make a key there with"
                    + " `afterlink keys create --kind test`, and name its file with --key-file."
        )
    }
}
