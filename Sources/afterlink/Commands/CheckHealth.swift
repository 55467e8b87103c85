internal import HTTPServer

/// The command `afterlink health`.
enum CheckHealth {
    static let description = CommandDescription(
        name: "health",
        summary: "Ask the serving process whether it is ready",
        discussion: [
            "Asks /readyz of the process that serves on this machine and exits 0 if it is ready, else 1. Containers"
                + " and scripts need no other program for it.",
            "With --tls-certificate it asks over TLS, without a look at the certificate: it sends nothing secret.",
        ],
        settings: ["listen", "tls-certificate", "tls-key"],
        examples: [
            CommandDescription.Example(
                call: "afterlink health --listen 127.0.0.1:8080 && echo ready",
                purpose: "In a script that waits for the service."
            )
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try ConfigurationReader.read(invocation)
        let listenAddress = configuration.listen
        let request = "GET /readyz HTTP/1.1\r\nHost: \(listenAddress)\r\nConnection: close\r\n\r\n"
        let bytes: [UInt8]
        do throws(SystemError) {
            let connection = try ClientConnection(to: listenAddress)
            bytes =
                try configuration.tlsCertificate == nil
                ? connection.exchange(Array(request.utf8))
                : connection.exchangeOverTLS(Array(request.utf8))
        } catch {
            throw CommandFailure(
                "No service answers at \(listenAddress): \(error.text).",
                advice: "Start it with `afterlink serve`, or name its address with --listen."
            )
        }
        guard let answer = ClientAnswer(bytes), answer.status == 200 else {
            throw CommandFailure("The service at \(listenAddress) is not ready.", advice: "Its log says why.")
        }
        Console.print("ready")
        return .done
    }
}
