import Foundation
import HTTPServer
import Testing
import afterlink

/// Compares the compose file of two servers with the settings of the program, and with the proxy's configuration.
@Suite("Two servers with Docker Compose")
struct ComposeTests {
    private let lines: [String]
    private let proxy: String

    init() throws {
        lines = try Repository.text("docker/compose.postgresql.yaml").components(separatedBy: "\n")
        proxy = try Repository.text("docker/nginx.conf")
    }

    /// Returns the lines after a heading that are indented more than the heading.
    private func section(_ heading: String) throws -> [String] {
        let start = try #require(lines.firstIndex(of: heading), "\(heading)")
        let indentation = heading.prefix { $0 == " " } + " "
        return Array(lines[(start + 1)...].prefix { $0.isEmpty || $0.hasPrefix(indentation) })
    }

    /// Returns the entries of a mapping with the given indentation, without comments.
    private func entries(_ heading: String, indentation: Int) throws -> [String: String] {
        let pairs = try section(heading).compactMap { line -> (String, String)? in
            guard line.prefix(while: { $0 == " " }).count == indentation else { return nil }
            let words = line.trimmingCharacters(in: .whitespaces)
            guard !words.hasPrefix("#"), let colon = words.firstIndex(of: ":") else { return nil }
            let value = words[words.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (String(words[..<colon]), value)
        }
        return Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    #if PostgreSQL
    @Test("the servers' variables are a valid configuration, and the secrets are files that the servers get")
    func configuration() throws {
        let variables = try entries("  environment:", indentation: 4).mapValues { value in
            // Without variables in its environment, Compose uses each variable's default.
            value.hasPrefix("${") && value.hasSuffix(":-}") ? "" : value
        }
        for name in variables.keys {
            #expect(Setting.all.contains { $0.environmentVariable == name }, "\(name)")
        }
        let command = try #require(Program.standard.commands.first { $0.name == "serve" })
        let configuration = try ConfigurationReader.read(
            Invocation(
                command: command,
                arguments: Arguments([], of: command),
                environment: variables.filter { !$0.value.isEmpty }
            )
        )
        #expect(configuration.isOnServer)
        #expect(!configuration.trustedProxies.isEmpty)
        let secrets = try entries("secrets:", indentation: 2)
        let ignored = try Repository.text(".gitignore")
        for path in [configuration.databasePasswordFile, configuration.secretFile] {
            let name = try #require(path).replacing("/run/secrets/", with: "")
            #expect(secrets[name] == "")
            #expect(lines.contains("    file: secrets/\(name)"))
            #expect(try section("  secrets:").contains("    - \(name)"))
        }
        #expect(ignored.contains("\ndocker/secrets/\n"))
        // The URL contains no password; the database gets the password's file and no variable with the password.
        #expect(configuration.database.wholeMatch(of: /postgres:\/\/\w+@\/\w+\?host=(\/[\/\w]+)/) != nil)
        let database = try entries("    environment:", indentation: 6)
        #expect(database["POSTGRES_PASSWORD_FILE"] == configuration.databasePasswordFile)
        #expect(database["POSTGRES_PASSWORD"] == nil)
        let user = try #require(database["POSTGRES_USER"])
        let name = try #require(database["POSTGRES_DB"])
        #expect(configuration.database.hasPrefix("postgres://\(user)@/\(name)?"))
    }
    #endif

    @Test("servers and database share the folder of the socket in the database's URL")
    func socket() throws {
        let url = try #require(try entries("  environment:", indentation: 4)["AFTERLINK_DATABASE"])
        let folder = try #require(url.components(separatedBy: "?host=").last)
        #expect(lines.count { $0.hasSuffix("- socket:\(folder)") } == 2)
        #expect(lines.contains(#"    command: ["postgres", "-c", "listen_addresses="]"#))
    }

    @Test("the servers trust the proxy, which uses all of them and keeps connections as long as they do")
    func proxied() throws {
        let services = try entries("services:", indentation: 2).keys.filter { $0.hasPrefix("server-") }
        let dockerfile = try Repository.text("docker/Dockerfile")
        let port = try #require(dockerfile.firstMatch(of: /AFTERLINK_LISTEN=0\.0\.0\.0:(\d+)/)).output.1
        #expect(services.count == 2)
        #expect(proxy.components(separatedBy: "\n    server ").count - 1 == services.count)
        for service in services {
            #expect(proxy.contains("\n    server \(service):\(port);\n"))
            #expect(try section("  \(service):").contains("    <<: *server"))
            #expect(try section("    depends_on:").contains("      \(service):"))
        }
        let requests = Configuration().limits.requestsPerConnection
        #expect(proxy.contains("\n    keepalive_requests \(requests);\n"))
        #expect(proxy.contains("X-Forwarded-For $proxy_add_x_forwarded_for;"))
        #expect(try section("  proxy:").contains("      - ./nginx.conf:/etc/nginx/conf.d/default.conf:ro"))
        // The article has the same `location` block as the proxy's configuration.
        let article = try Repository.text("Sources/afterlink/Afterlink.docc/ManyServers.md")
        let location = proxy.components(separatedBy: "\n").drop { !$0.contains("location /") }
        #expect(location.count > 5)
        for line in location where !line.contains("#") { #expect(article.contains("\n\(line)\n"), "\(line)") }
        let network = try #require(try entries("  environment:", indentation: 4)["AFTERLINK_TRUSTED_PROXY"])
        #expect(lines.contains("        - subnet: \(network)"))
    }

    @Test("the article's variables are settings")
    func variables() throws {
        let article = try Repository.text("Sources/afterlink/Afterlink.docc/ManyServers.md")
        let names = article.matches(of: /AFTERLINK_[A-Z_]+/).map(\.output)
        #expect(names.count >= 4)
        for name in names { #expect(Setting.all.contains { $0.environmentVariable == name }, "\(name)") }
    }

    @Test("the image has the package trait, and its containers are restricted like the container on SQLite")
    func hardening() throws {
        let server = try section("x-server: &server")
        #expect(
            server.contains("      TRAITS: PostgreSQL")
                && server.contains("    dockerfile: docker/Dockerfile")
        )
        let single = try Repository.text("docker/compose.yaml").components(separatedBy: "\n")
        for line in [
            "read_only: true", "- ALL", "cap_drop:", "- no-new-privileges:true", "stop_grace_period: 20s",
        ] {
            for file in [server, single] {
                #expect(file.contains { $0.trimmingCharacters(in: .whitespaces) == line }, "\(line)")
            }
        }
        // A server starts when the database is ready, and the proxy when the servers are.
        #expect(lines.count { $0.hasSuffix("condition: service_healthy") } == 3)
        #expect(lines.contains { $0.contains(#"["CMD", "pg_isready", "#) })
        #expect(try Repository.text("docker/Dockerfile").contains(#"CMD ["afterlink", "health"]"#))
    }
}
