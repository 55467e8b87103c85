// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target, tests included.
let commonSettings: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Generic code of one module is made for the types that another uses it with: a request goes through five of them.
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

/// Those of targets that compute, which are optimised in debug builds too.
///
/// Else the tests that play weeks of simulated traffic would take longer than all others together. What traps in a debug
/// build traps here as well, but for `assert`.
let optimizedInDebug: [SwiftSetting] = commonSettings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
    name: "afterlink",
    products: [
        .executable(name: "afterlink", targets: ["afterlink"])
    ],
    targets: [
        // C as the system has it.
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

        // Build time only: SQL and tables become string literals, so that the binary runs from anywhere.
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
            dependencies: ["CMath", "Crypto"],
            exclude: ["Data"],
            swiftSettings: optimizedInDebug,
            plugins: ["EmbedPlugin"]
        ),
        // Locks, threads and the clock of timeouts: where systems differ, they differ here.
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
        // What every database does alike: what is batched, read, counted and learnt, and when. No SQL and no file.
        .target(name: "Storage", dependencies: ["Attribution", "Threads"], swiftSettings: optimizedInDebug),
        .target(
            name: "SQLiteStorage",
            dependencies: ["Attribution", "Crypto", "SQLite", "Storage", "Threads"],
            swiftSettings: optimizedInDebug,
            plugins: ["EmbedPlugin"]
        ),
        .target(
            name: "Server",
            dependencies: [
                "Attribution", "Crypto", "DomainFiles", "HTTPServer", "JSON", "QRCodes", "Threads",
            ],
            exclude: ["Landing/Pages", "OpenAPI/Document", "Trial/Data"],
            swiftSettings: commonSettings,
            plugins: ["EmbedPlugin"]
        ),
        .executableTarget(
            name: "afterlink",
            dependencies: [
                "Attribution", "CLinux", "Crypto", "DomainFiles", "HTTPServer", "JSON", "QRCodes",
                "SQLiteStorage", "Server", "Storage", "Threads",
            ],
            swiftSettings: commonSettings
        ),

        .target(
            name: "Support",
            dependencies: ["COpenSSL", "SQLite"],
            path: "Tests/Support",
            swiftSettings: commonSettings
        ),
        .executableTarget(
            name: "EchoServer",
            dependencies: ["HTTPServer"],
            path: "Tests/EchoServer",
            swiftSettings: commonSettings
        ),
        // Parsers of bytes from outside: what must hold, tried by the tests and, without end, by hand.
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
        // Launches with known truth in worlds whose parameters the model does not know, and how it fares.
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
            name: "StorageTests",
            dependencies: [
                "Attribution", "SQLiteStorage", "SQLite", "Simulation", "Storage", "Support", "Threads",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Attribution", "Crypto", "DomainFiles", "HTTPServer", "JSON", "QRCodes", "SQLite",
                "SQLiteStorage", "Server", "Simulation", "Storage", "Support", "Threads",
            ],
            swiftSettings: commonSettings
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Attribution", "Fuzzing", "HTTPServer", "SQLite", "Server", "Support", "Threads", "afterlink",
            ],
            swiftSettings: commonSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
