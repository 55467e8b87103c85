import Foundation
import Testing
import afterlink

/// The tests have no Docker engine, so they compare the files for image and unit with CI and the articles.
@Suite("Docker image and systemd unit")
struct DockerTests {
    private let ci: String
    private let dockerfile: String

    init() throws {
        ci = try Repository.text(".ci/run")
        dockerfile = try Repository.text("docker/Dockerfile")
    }

    /// Returns the words of a shell array in a script, by default `.ci/run`.
    private func array(_ name: String, in script: String? = nil) throws -> String {
        let lines = (script ?? ci).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("\(name)=(") })
        return String(line.dropFirst(name.count + 2).dropLast())
    }

    @Test("the image is built from the packages and by the command that CI uses")
    func build() throws {
        #expect(dockerfile.contains("apt-get install -y --no-install-recommends \(try array("packages")) "))
        #expect(dockerfile.contains("RUN \(try array("release")) "))
    }

    @Test("with the package trait, the image is built as CI builds the release for PostgreSQL")
    func buildWithTrait() throws {
        let traits = "--traits PostgreSQL"
        let long = try Repository.text(".ci/long")
        #expect(long.contains("\n\"${release[@]}\" \(traits) "))
        #expect(try array("release", in: long) == array("release"))
        #expect(try Repository.text("Package.swift").contains(".trait(name: \"PostgreSQL\","))
        #expect(DatabaseURL.buildCommand.replacing(" \(traits)", with: "") == (try array("release")))
        #expect(try array("test_packages").contains("libpq-dev"))
        let stages = dockerfile.components(separatedBy: "\nFROM ")
        try #require(stages.count == 3)
        for stage in stages.dropFirst() { #expect(stage.contains("\nARG TRAITS=\nRUN ")) }
        #expect(stages[1].contains(" \(try array("packages")) ${TRAITS:+libpq-dev} "))
        #expect(stages[1].contains("RUN \(try array("release")) ${TRAITS:+--traits \"$TRAITS\"} "))
        #expect(stages[2].contains(" ${TRAITS:+libpq5} "))
    }

    @Test("the README installs what CI installs")
    func readme() throws {
        let readme = try Repository.text("README.md")
        #expect(readme.contains(" \(try array("packages"))'"))
        let tests = try #require(readme.components(separatedBy: "<!-- command: test -->").last)
        for package in try array("test_packages").split(separator: " ") {
            #expect(tests.contains(" \(package) "), "\(package)")
        }
    }

    @Test("the image's final stage has the libraries that the binary links, and no tools")
    func libraries() throws {
        let final = try #require(dockerfile.components(separatedBy: "\nFROM ").last)
        for library in ["libsqlite3-0", "libssl3", "ca-certificates"] {
            #expect(final.contains(" \(library)"))
        }
        for tool in ["curl ", "wget ", "pkg-config", "-dev "] { #expect(!final.contains(tool)) }
    }

    @Test("image and unit run as an unprivileged user, store everything in one directory, and stop in time")
    func hardening() throws {
        let unit = try Repository.text("docker/afterlink.service")
        let compose = try Repository.text("docker/compose.yaml")
        #expect(dockerfile.contains("\nUSER afterlink\n"))
        #expect(dockerfile.contains("\nVOLUME /var/lib/afterlink\n"))
        #expect(dockerfile.contains("AFTERLINK_DATA_DIRECTORY=/var/lib/afterlink\n"))
        #expect(unit.contains("\nEnvironment=AFTERLINK_DATA_DIRECTORY=/var/lib/afterlink\n"))
        #expect(unit.contains("\nStateDirectory=afterlink\n"))
        #expect(unit.contains("\nProtectSystem=strict\n"))
        #expect(unit.contains("\nTimeoutStopSec=20\n"))
        for line in [
            "DynamicUser=yes", "UMask=0077", "StateDirectoryMode=0700", "NoNewPrivileges=yes",
            "ProtectHome=yes", "PrivateDevices=yes", "CapabilityBoundingSet=", "MemoryDenyWriteExecute=yes",
            "SystemCallFilter=@system-service", "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        #expect(compose.contains("read_only: true"))
        #expect(compose.contains("- data:/var/lib/afterlink"))
        #expect(compose.contains("stop_grace_period: 20s"))
    }

    @Test(
        "with the article's settings, which the failure on a forbidden port names, the unit may use port 443"
    )
    func privilegedPort() throws {
        let unit = try Repository.text("docker/afterlink.service")
        let article = try Repository.text("Sources/afterlink/Afterlink.docc/InstallAndProxies.md")
        let dropIn = try #require(
            article.components(separatedBy: "```ini\n").first { $0.contains("/https.conf\n") }
        )
        let refusal = try Repository.text("Sources/afterlink/CommandLine/CommandFailure.swift")
        for (taken, given) in [
            ("CapabilityBoundingSet=", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE"),
            ("AmbientCapabilities=", "AmbientCapabilities=CAP_NET_BIND_SERVICE"),
            ("PrivateUsers=yes", "PrivateUsers=no"),
        ] {
            #expect(unit.contains("\n\(taken)\n") && dropIn.contains("\n\(given)\n"))
            #expect(refusal.contains(taken == "PrivateUsers=yes" ? given : taken))
        }
        let variables = dropIn.components(separatedBy: "\nEnvironment=").dropFirst().map {
            $0.prefix { $0 != "=" }
        }
        #expect(variables.count == 3)
        for variable in variables { #expect(Setting.all.contains { $0.environmentVariable == variable }) }
    }

    @Test("the build's context has every top-level folder that the package needs")
    func context() throws {
        let ignored = try Repository.text("docker/Dockerfile.dockerignore")
        for needed in ["Package.swift", "Sources", "Tests", "Migrations"] {
            #expect(ignored.contains("!\(needed)\n"))
        }
    }
}
