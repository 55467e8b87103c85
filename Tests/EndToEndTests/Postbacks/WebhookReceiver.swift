import Foundation
import Support

/// A receiver of postbacks that is a process of its own, and writes each request to disk before it answers.
///
/// The path chooses the answer; see ``program``.
final class WebhookReceiver {
    /// A request as the receiver has written it.
    struct Received: Decodable {
        let path: String
        let id: String
        let timestamp: String
        let signature: String
        let body: String

        /// The click that the event names; nil for none.
        var click: String? {
            let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return (object?["data"] as? [String: Any])?["click_id"] as? String
        }
    }

    let port: UInt16
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Listens on a port of an address; port 0 is a free one.
    init(on address: String = "127.0.0.1", port: UInt16 = 0) throws {
        folder = try TemporaryFolder()
        let python = URL(fileURLWithPath: "/usr/bin/env")
        let arguments = [folder.file("requests"), address, String(port)]
        process = try ChildProcess(python, ["python3", "-c", Self.program] + arguments)
        guard let line = process.line(containing: "port "), let port = UInt16(line.dropFirst("port ".count))
        else {
            throw ChildProcess.Failure(description: "the receiver did not start")
        }
        self.port = port
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The setting that allows the receiver's address.
    var allowance: [String] { ["--postback-allow", "127.0.0.1:\(port)"] }

    func received() throws -> [Received] {
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.file("requests")))
        return try data.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Received.self, from: $0)
        }
    }

    /// Verifies the signatures of requests; returns the name of the judge, and the ids of requests that it refuses.
    ///
    /// The judge is the reference library if it is installed, else Python's own HMAC.
    static func judge(_ requests: [Received], secret: String) throws -> (judge: String, refused: [String]) {
        let rows = requests.map { [$0.id, $0.timestamp, $0.signature, $0.body] }
        // Use a file, because the requests of a long test are longer than an argument may be.
        let folder = try TemporaryFolder()
        let file = folder.file("rows")
        try JSONSerialization.data(withJSONObject: rows).write(to: URL(filePath: file))
        let output = try ExternalProgram.run("python3", ["-c", judge, secret, file])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        return (lines.first ?? "", Array(lines.dropFirst()))
    }

    private static let judge = """
        import base64, hashlib, hmac, json, sys
        secret, rows = sys.argv[1], json.load(open(sys.argv[2]))
        try:
            from standardwebhooks.webhooks import Webhook
            print("standardwebhooks")
            def verify(id, time, signature, body):
                Webhook(secret).verify(body, {"webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature})
        except ImportError:
            print("hmac")
            key = base64.b64decode(secret.split("_", 1)[1])
            def verify(id, time, signature, body):
                code = hmac.new(key, f"{id}.{time}.{body}".encode(), hashlib.sha256).digest()
                if "v1," + base64.b64encode(code).decode() not in signature.split(" "):
                    raise ValueError("signature")
        for row in rows:
            try:
                verify(*row)
            except Exception:
                print(row[0])
        """

    private static let program = """
        import http.server, json, os, sys, threading, time
        log, lock, counts = open(sys.argv[1], "a"), threading.Lock(), {}
        class Receiver(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *arguments):
                pass
            def answer(self, status, fields={}, body=b""):
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                path = self.path.strip("/")
                with lock:
                    fields = {name: self.headers.get("webhook-" + name, "") for name in ("id", "timestamp", "signature")}
                    log.write(json.dumps({"path": path, "body": body, **fields}) + "\\n")
                    log.flush()
                    os.fsync(log.fileno())
                    counts[path] = counts.get(path, 0) + 1
                try:
                    self.reply(path, body)
                except OSError:
                    pass
            def reply(self, path, body):
                if path == "hang":
                    time.sleep(60)
                elif path == "drip":
                    self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000\\r\\n\\r\\n")
                    for _ in range(60):
                        self.wfile.write(b"x")
                        self.wfile.flush()
                        time.sleep(1)
                elif path == "huge":
                    self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1073741824\\r\\n\\r\\n")
                    while True:
                        self.wfile.write(b"x" * 65536)
                elif path == "redirect":
                    self.answer(307, {"Location": "/ok"})
                elif path == "gone":
                    self.answer(410)
                elif path == "later":
                    self.answer(429, {"Retry-After": "3600"})
                elif path == "echo":
                    self.answer(500, body=body.encode())
                elif path == "error" and counts[path] == 1:
                    self.answer(500, body=b"broken")
                else:
                    self.answer(204)
        server = http.server.ThreadingHTTPServer((sys.argv[2], int(sys.argv[3])), Receiver)
        server.daemon_threads = True
        print("port", server.server_address[1], flush=True)
        server.serve_forever()
        """
}
