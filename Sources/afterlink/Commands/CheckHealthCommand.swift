internal import Glibc
internal import HTTPServer
internal import JSON
internal import Server

/// The command `afterlink health`.
enum CheckHealthCommand {
    static let description = CommandDescription(
        name: "health",
        summary: "Report whether the serving process is ready",
        discussion: [
            "Calls /readyz of the service at --listen on this machine. The exit status is 0 if the service is ready, else"
                + " 1, so that containers and scripts need no other program.",
            "With --tls-certificate it uses TLS and does not verify the certificate, because it sends no secret.",
        ],
        settings: ["listen", "tls-certificate", "tls-key"],
        examples: [
            "afterlink health --listen 127.0.0.1:8080 && echo ready": "Print a line if the service is ready."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        let address = configuration.listen
        let overTLS = configuration.tlsCertificate != nil
        let response: ClientResponse?
        do {
            response = try Exchange(address, overTLS: overTLS).get("/readyz")
        } catch {
            // A server that does not understand the request may close the connection.
            guard error.number == ECONNRESET || error.number == EPIPE else {
                throw CommandFailure.because("No service responds at \(address): \(error.text).")
                    .advising("Start it with `afterlink serve`, or name its address with --listen.")
            }
            response = nil
        }
        guard let response, response.status != 400 else {
            throw misunderstanding(at: address, overTLS: overTLS)
        }
        switch response.status {
        case 200: break
        case 503:
            let reason = response.json?["reason"]?.string
            throw CommandFailure.because(
                "The service at \(address) is not ready\(reason.map { ": \($0)" } ?? "")."
            ).advising("See its log for the reason.")
        default:
            throw CommandFailure.because(
                "At \(address), /readyz returns \(response.statusText): the server is not Afterlink."
            ).advising("Name the service's own address with --listen.")
        }
        Console.print("ready")
    }

    /// Explains a status 400 or a response that is not HTTP; perhaps the server uses TLS and the request does not, or
    /// the reverse.
    private static func misunderstanding(at address: ListenAddress, overTLS: Bool) -> CommandFailure {
        guard let other = try? Exchange(address, overTLS: !overTLS).get("/readyz"), other.status != 400 else {
            return CommandFailure.because("The server at \(address) is not Afterlink.")
                .advising("Name the service's own address with --listen.")
        }
        return overTLS
            ? CommandFailure.because("The service at \(address) speaks plain HTTP, not HTTPS.")
                .advising("Leave --tls-certificate and --tls-key out, as the service does.")
            : CommandFailure.because("The service at \(address) speaks HTTPS, not plain HTTP.")
                .advising("Give the service's --tls-certificate and --tls-key.")
    }
}
