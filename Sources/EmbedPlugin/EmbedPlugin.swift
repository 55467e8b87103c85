import Foundation
import PackagePlugin

/// Turns text files into string literals at build time.
///
/// - Each target `…Storage` gets the SQL of a folder in `Migrations`: `SQLiteStorage` that of `Migrations/SQLite`.
/// - `Attribution` gets the tables of `Sources/Attribution/Data`.
/// - `DomainFiles` gets the table of findings in `Sources/DomainFiles/Data`.
/// - `Server` gets the pages of `Sources/Server/Landing/Pages`, the dashboard's style and script in
///   `Sources/Server/Dashboard/Files`, the description of the API in `Sources/Server/OpenAPI/Document` and the browsers of
///   trials in `Sources/Server/Trial/Data`.
///
/// The next build embeds a new file in one of these folders if ``embeddings`` lists the file's extension. A new folder
/// outside `Migrations` needs a row in ``embeddings``, and its target needs this plugin in `Package.swift`.
@main
struct EmbedPlugin: BuildToolPlugin {
    /// A folder whose files a target gets as an enumeration.
    private struct Embedding {
        let folder: String
        /// The extensions of the files to embed.
        let fileExtensions: Set<String>
        /// The name of the enumeration.
        let enumeration: String
    }

    /// The folders by the name of the target.
    private static let embeddings = [
        "Attribution": [
            Embedding(
                folder: "Sources/Attribution/Data",
                fileExtensions: ["tsv"],
                enumeration: "EmbeddedData"
            )
        ],
        "DomainFiles": [
            Embedding(
                folder: "Sources/DomainFiles/Data",
                fileExtensions: ["tsv"],
                enumeration: "EmbeddedFindings"
            )
        ],
        "Server": [
            Embedding(
                folder: "Sources/Server/Landing/Pages",
                fileExtensions: ["html", "css", "js", "tsv"],
                enumeration: "EmbeddedPages"
            ),
            Embedding(
                folder: "Sources/Server/Dashboard/Files",
                fileExtensions: ["css", "js"],
                enumeration: "EmbeddedDashboard"
            ),
            Embedding(
                folder: "Sources/Server/OpenAPI/Document",
                fileExtensions: ["json"],
                enumeration: "EmbeddedDescription"
            ),
            Embedding(
                folder: "Sources/Server/Trial/Data",
                fileExtensions: ["tsv"],
                enumeration: "EmbeddedTrials"
            ),
        ],
    ]

    /// Returns the migrations of the module of a database.
    private static func migrations(of target: String) -> [Embedding]? {
        guard target.hasSuffix("Storage") else { return nil }
        let folder = "Migrations/\(target.dropLast("Storage".count))"
        return [Embedding(folder: folder, fileExtensions: ["sql"], enumeration: "EmbeddedMigrations")]
    }

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let embeddings = Self.embeddings[target.name] ?? Self.migrations(of: target.name) else {
            Diagnostics.error("EmbedPlugin: name the folder of target \(target.name) in the table")
            return []
        }
        return try embeddings.map { try command(for: $0, context) }
    }

    private func command(for embedding: Embedding, _ context: PluginContext) throws -> Command {
        let folder = context.package.directoryURL.appending(path: embedding.folder)
        let files = try FileManager.default
            .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { embedding.fileExtensions.contains($0.pathExtension) }
            // A test writes this file from the migrations.
            .filter { $0.lastPathComponent != "schema.sql" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        let output = context.pluginWorkDirectoryURL.appending(path: "\(embedding.enumeration).swift")
        return .buildCommand(
            displayName: "Embedding \(files.count) files of \(embedding.folder)",
            executable: try context.tool(named: "EmbedTool").url,
            arguments: [embedding.enumeration, output.path] + files.map(\.path),
            inputFiles: files,
            outputFiles: [output]
        )
    }
}
