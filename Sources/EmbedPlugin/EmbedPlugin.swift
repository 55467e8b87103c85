import Foundation
import PackagePlugin

/// Turns text files into string literals at build time: the SQL of `Migrations/SQLite` for the store, the
/// tables of `Sources/Attribution/Data` for the domain, and, for the server, the pages of
/// `Sources/Server/Landing/Pages`, the description of the API in `Sources/Server/OpenAPI/Document` and the browsers of trials
/// in `Sources/Server/Trial/Data`.
///
/// A new file in one of the folders is picked up by the next build; nothing has to be registered.
@main
struct EmbedPlugin: BuildToolPlugin {
    /// What is embedded in a target: a folder's files of these extensions, as an enumeration of that name.
    private struct Embedding {
        let folder: String
        let fileExtensions: Set<String>
        let enumeration: String
        /// Files of the folder that are written from the others.
        var excluded: Set<String> = []
    }

    /// By the name of the target.
    private static let embeddings = [
        "SQLiteStorage": [
            Embedding(
                folder: "Migrations/SQLite",
                fileExtensions: ["sql"],
                enumeration: "EmbeddedMigrations",
                excluded: ["schema.sql"]
            )
        ],
        "Attribution": [
            Embedding(
                folder: "Sources/Attribution/Data",
                fileExtensions: ["tsv"],
                enumeration: "EmbeddedData"
            )
        ],
        "Server": [
            Embedding(
                folder: "Sources/Server/Landing/Pages",
                fileExtensions: ["html", "css", "js", "tsv"],
                enumeration: "EmbeddedPages"
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

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let embeddings = Self.embeddings[target.name] else {
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
            .filter { !embedding.excluded.contains($0.lastPathComponent) }
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
