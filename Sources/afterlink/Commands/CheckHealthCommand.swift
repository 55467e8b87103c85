internal import Glibc
internal import HTTPServer
internal import JSON
internal import Server

/// The command `afterlink health`.
enum CheckHealthCommand {
    static let description = CommandDescription(
        name: "health",
        summary: "Ask the serving process whether it is ready",
        discussion: [
            "Asks /readyz of the process that serves on this machine and exits 0 if it is ready, else 1. Containers"
                + " and scripts need no other program for it.",
            "With --tls-certificate it asks over TLS and does not verify the certificate, because it sends no secret.",
        ],
        settings: ["listen", "tls-certificate", "tls-key"],
        examples: [
            "afterlink health --listen 127.0.0.1:8080 && echo ready":
                "In a script that waits for the service."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try ConfigurationReader.read(invocation)
        let address = configuration.listen
        let overTLS = configuration.tlsCertificate != nil
        let response: ClientResponse?
        do {
            response = try Exchange(address, overTLS: overTLS).get("/readyz")
        } catch {
            // A server that does not understand what comes may hang up.
            guard error.number == ECONNRESET || error.number == EPIPE else {
                throw CommandFailure.because("No service answers at \(address): \(error.text).")
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
            throw CommandFailure(
                "The service at \(address) is not ready\(reason.map { ": \($0)" } ?? "").",
                advice: "Its log says why."
            )
        default:
            throw CommandFailure(
                "At \(address), /readyz returns \(response.statusText): that is no service of Afterlink.",
                advice: "Name the service's own address with --listen."
            )
        }
        Console.print("ready")
        return .success
    }

    /// Why no response makes sense: the server may speak TLS and was asked in plain HTTP, or the other way round.
    private static func misunderstanding(at address: ListenAddress, overTLS: Bool) -> CommandFailure {
        guard let other = try? Exchange(address, overTLS: !overTLS).get("/readyz"), other.status != 400 else {
            return CommandFailure.because("What answers at \(address) is no service of Afterlink.")
                .advising("Name the service's own address with --listen.")
        }
        return overTLS
            ? CommandFailure.because("The service at \(address) speaks plain HTTP, and was asked over TLS.")
                .advising("Leave --tls-certificate and --tls-key out, as the service does.")
            : CommandFailure.because("The service at \(address) speaks HTTPS, and was asked in plain HTTP.")
                .advising("Give --tls-certificate and --tls-key as the service has them.")
    }
}
