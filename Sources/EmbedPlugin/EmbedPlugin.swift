import Foundation
import PackagePlugin

/// Turns text files into string literals at build time: the SQL of `Migrations/SQLite` for the store, the
/// tables of `Sources/Attribution/Data` for the domain.
///
/// A new file in one of the folders is picked up by the next build; nothing has to be registered.
@main
struct EmbedPlugin: BuildToolPlugin {
    /// What is embedded in a target: a folder's files of one extension, as an enumeration of that name.
    private struct Embedding {
        let folder: String
        let fileExtension: String
        let enumeration: String
    }

    /// By the name of the target.
    private static let embeddings = [
        "SQLiteStorage": Embedding(
            folder: "Migrations/SQLite",
            fileExtension: "sql",
            enumeration: "EmbeddedMigrations"
        ),
        "Attribution": Embedding(
            folder: "Sources/Attribution/Data",
            fileExtension: "tsv",
            enumeration: "EmbeddedData"
        ),
    ]

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let embedding = Self.embeddings[target.name] else {
            Diagnostics.error("EmbedPlugin: name the folder of target \(target.name) in the table")
            return []
        }
        let folder = context.package.directoryURL.appending(path: embedding.folder)
        let files = try FileManager.default
            .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == embedding.fileExtension }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        let output = context.pluginWorkDirectoryURL.appending(path: "\(embedding.enumeration).swift")
        return [
            .buildCommand(
                displayName: "Embedding \(files.count) files of \(embedding.folder)",
                executable: try context.tool(named: "EmbedTool").url,
                arguments: [embedding.enumeration, output.path] + files.map(\.path),
                inputFiles: files,
                outputFiles: [output]
            )
        ]
    }
}
