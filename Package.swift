// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target, tests included.
let checkedSettings: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The settings of targets that other targets import.
let commonSettings: [SwiftSetting] =
    checkedSettings + [
        // Specialises a module's generic code for the types of other modules: a request passes through five.
        .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))
    ]

/// The settings of targets that compute much, which are optimised in debug builds too.
///
/// Otherwise the tests that play weeks of simulated traffic would take longer than all others together.
/// Everything that traps in a debug build traps here too, except `assert`. The compiler reads such a module once as a
/// whole, because an optimised file depends on the others anyway.
let optimizedInDebug: [SwiftSetting] =
    commonSettings + [
        .unsafeFlags(["-O", "-wmo", "-num-threads", "2"], .when(configuration: .debug))
    ]

/// The settings of the program's own target, whose commands run once: a small binary is worth more than their speed.
let optimizedForSize: [SwiftSetting] =
    checkedSettings + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

let package = Package(
    name: "afterlink",
    // The systems of apps that have the client library. The server runs on Linux.
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .visionOS(.v1)],
    products: [
        .executable(name: "afterlink", targets: ["afterlink"]),
        .library(name: "AfterlinkClient", targets: ["AfterlinkClient", "AfterlinkCore"]),
    ],
    traits: [
        .trait(name: "PostgreSQL", description: "Builds the PostgreSQL database, which needs libpq-dev."),
        .trait(
            name: "ClientLibrary",
            description:
                "Builds `afterlink simulate --client swift`, which makes the program larger by a third."
        ),
    ],
    targets: [
        // The C libraries of the system.
        .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
        .systemLibrary(name: "CMath", path: "Sources/CMath"),
        .systemLibrary(
            name: "CSQLite",
            path: "Sources/CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(
            name: "COpenSSL",
            path: "Sources/COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]
        ),
        .systemLibrary(
            name: "CLibPQ",
            path: "Sources/CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"])]
        ),

        // Runs during the build: embeds SQL and tables as string literals, so the binary needs no other file.
        .executableTarget(name: "EmbedTool", swiftSettings: commonSettings),
        .plugin(
            name: "EmbedPlugin",
            capability: .buildTool(),
            dependencies: ["EmbedTool"],
            path: "Sources/EmbedPlugin"
        ),

        .target(name: "Crypto", dependencies: ["COpenSSL"], swiftSettings: optimizedInDebug),
        .target(
            name: "Attribution",
            dependencies: ["CMath", "Crypto", "JSON"],
            exclude: ["Data"],
            swiftSettings: optimizedInDebug,
            plugins: ["EmbedPlugin"]
        ),
        // Locks, threads and the clock of timeouts, in one module because they differ between systems.
        .target(
            name: "Threads",
            dependencies: [.target(name: "CLinux", condition: .when(platforms: [.linux]))],
            swiftSettings: optimizedInDebug
        ),
        .target(
            name: "HTTPServer",
            dependencies: ["CLinux", "COpenSSL", "Threads"],
            swiftSettings: commonSettings
        ),
        .target(name: "JSON", swiftSettings: commonSettings),
        .target(name: "QRCodes", dependencies: ["Attribution"], swiftSettings: optimizedInDebug),
        .target(
            name: "DomainFiles",
            dependencies: ["Attribution", "JSON"],
            exclude: ["Data"],
            swiftSettings: optimizedInDebug,
            plugins: ["EmbedPlugin"]
        ),
        .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: optimizedInDebug),
        // Empty without the trait. SwiftPM builds every target of the package, so each file states the condition.
        .target(
            name: "PostgreSQL",
            dependencies: [
                .target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"])), "CLinux", "Threads",
            ],
            swiftSettings: commonSettings
        ),
        // The code that all databases share: batching, reading, counting, learning. It has no SQL or files.
        .target(name: "Storage", dependencies: ["Attribution", "Threads"], swiftSettings: optimizedInDebug),
        .target(
            name: "SQLiteStorage",
            dependencies: ["Attribution", "Crypto", "SQLite", "Storage", "Threads"],
            swiftSettings: optimizedInDebug,
            plugins: ["EmbedPlugin"]
        ),
        // Empty without the trait, too.
        .target(
            name: "PostgreSQLStorage",
            dependencies: ["Attribution", "CLinux", "Crypto", "PostgreSQL", "Storage", "Threads"],
            swiftSettings: commonSettings,
            plugins: ["EmbedPlugin"]
        ),
        .target(
            name: "Server",
            dependencies: [
                "Attribution", "Crypto", "DomainFiles", "HTTPServer", "JSON", "QRCodes", "Threads",
            ],
            exclude: ["Dashboard/Files", "Landing/Pages", "OpenAPI/Document", "Trial/Data"],
            swiftSettings: commonSettings,
            plugins: ["EmbedPlugin"]
        ),
        .executableTarget(
            name: "afterlink",
            dependencies: [
                .target(name: "AfterlinkCore", condition: .when(traits: ["ClientLibrary"])),
                "Attribution", "CLinux", "Crypto", "DomainFiles", "HTTPServer", "JSON", "PostgreSQL",
                "PostgreSQLStorage", "QRCodes", "SQLiteStorage", "Server", "Storage", "Threads",
            ],
            swiftSettings: optimizedForSize,
            // Folds functions with the same machine code whose addresses nobody compares, and exports no symbols: each
            // would have a name and a relocation in the file, and its code would stay although nothing calls it.
            linkerSettings: [
                .unsafeFlags(
                    ["-Xlinker", "--icf=safe", "-Xlinker", "--no-export-dynamic"],
                    .when(platforms: [.linux], configuration: .release)
                )
            ]
        ),

        // The client library of apps. Its targets have no unsafe flags, because packages with such flags cannot be
        // dependencies. AfterlinkCore needs only a part of Foundation, for the command `simulate` that can run it. A
        // target with resources imports all of Foundation.
        .target(name: "AfterlinkCore", swiftSettings: checkedSettings),
        .target(
            name: "AfterlinkClient",
            dependencies: ["AfterlinkCore"],
            exclude: ["Android"],
            resources: [.copy("PrivacyInfo.xcprivacy")],
            swiftSettings: checkedSettings
        ),
        // An app with the client library, as a process that tests kill.
        .executableTarget(
            name: "ClientProcess",
            dependencies: ["AfterlinkClient", "AfterlinkCore"],
            path: "Tests/ClientProcess",
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "AfterlinkClientTests",
            dependencies: [
                "AfterlinkClient", "AfterlinkCore", "ClientProcess", "SQLite", "Support", "afterlink",
            ],
            exclude: ["Java", "Stubs"],
            swiftSettings: commonSettings
        ),

        .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
        .target(
            name: "Support",
            dependencies: [
                "CLinux", "COpenSSL", "CSpawn",
                .target(name: "CLibPQ", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                "SQLite", "Threads",
            ],
            path: "Tests/Support",
            swiftSettings: commonSettings
        ),
        .executableTarget(
            name: "EchoServer",
            dependencies: ["HTTPServer"],
            path: "Tests/EchoServer",
            swiftSettings: commonSettings
        ),
        // What must hold for the parsers of outside bytes. Tests try it briefly, `Fuzz` until it is stopped.
        .target(
            name: "Fuzzing",
            dependencies: [
                "Attribution", "DomainFiles", "HTTPServer", "JSON", "QRCodes", "Server", "Threads",
            ],
            path: "Tests/Fuzzing",
            swiftSettings: commonSettings
        ),
        .executableTarget(
            name: "Fuzz",
            dependencies: ["Fuzzing"],
            path: "Tests/Fuzz",
            exclude: ["Corpus"],
            swiftSettings: commonSettings
        ),
        .testTarget(name: "FuzzTests", dependencies: ["Fuzzing"], swiftSettings: commonSettings),
        .executableTarget(
            name: "Benchmark",
            dependencies: ["Attribution", "CLinux", "Crypto", "SQLite", "Simulation", "Storage", "Support"],
            path: "Tests/Benchmark",
            exclude: ["install-yardsticks"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "BenchmarkTests",
            dependencies: ["Attribution", "Benchmark", "HTTPServer", "Simulation", "Storage", "Support"],
            swiftSettings: commonSettings
        ),
        // Simulated traffic in which the click of each launch is known, to measure the model's accuracy.
        .target(
            name: "Simulation",
            dependencies: ["Attribution", "Crypto", "Storage", "Support"],
            path: "Tests/Simulation",
            swiftSettings: optimizedInDebug
        ),
        .executableTarget(
            name: "Simulate",
            dependencies: ["Simulation"],
            path: "Tests/Simulate",
            swiftSettings: commonSettings
        ),
        .testTarget(name: "CryptoTests", dependencies: ["Crypto"], swiftSettings: commonSettings),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: commonSettings),
        .testTarget(
            name: "QRCodeTests",
            dependencies: ["Attribution", "QRCodes", "Support"],
            exclude: ["Vectors"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "DomainFileTests",
            dependencies: ["Attribution", "DomainFiles"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "AttributionTests",
            dependencies: ["Attribution", "Crypto", "Simulation", "Storage", "Support"],
            exclude: ["Vectors"],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: ["HTTPServer", "EchoServer", "Support", "Threads"],
            swiftSettings: commonSettings
        ),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "Support"], swiftSettings: commonSettings),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: ["PostgreSQL", "Support", "Threads"],
            swiftSettings: commonSettings
        ),
        // The databases on which the tests of the store and of the service run.
        .target(
            name: "TestDatabases",
            dependencies: [
                "Attribution", "PostgreSQLStorage", "SQLite", "SQLiteStorage", "Storage", "Support",
            ],
            path: "Tests/TestDatabases",
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "PostgreSQLStorageTests",
            dependencies: [
                "Attribution", "PostgreSQL", "PostgreSQLStorage", "Storage", "Support",
                "TestDatabases", "Threads",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Attribution", "SQLiteStorage", "SQLite", "Simulation", "Storage", "Support",
                "TestDatabases", "Threads",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Attribution", "Crypto", "DomainFiles", "HTTPServer", "JSON", "QRCodes", "Server",
                "Simulation", "Storage", "Support", "TestDatabases", "Threads",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Attribution", "Crypto", "Fuzzing", "HTTPServer", "PostgreSQLStorage", "SQLite", "Server",
                "Storage", "Support", "Threads", "afterlink",
            ],
            swiftSettings: commonSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
