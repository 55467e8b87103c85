import Foundation

/// Writes a Swift file that contains the given text files as string literals.
///
/// Usage: `EmbedTool <enum name> <output file> <input file>…`
@main
struct EmbedTool {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else {
            throw CocoaError(
                .fileNoSuchFile,
                userInfo: [NSLocalizedDescriptionKey: "usage: EmbedTool <enum> <output> <input>…"]
            )
        }
        var source = "enum \(arguments[1]) {\n    static let files: [(name: String, text: String)] = [\n"
        for path in arguments.dropFirst(3) {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let name = URL(fileURLWithPath: path).lastPathComponent
            // The literal ends at three quotation marks and four number signs, which no text file here contains.
            source += "        (\n            name: \"\(name)\",\n            text: ####\"\"\"\n"
            source += text
            source += text.hasSuffix("\n") ? "" : "\n"
            source += "\n\"\"\"####\n        ),\n"
        }
        source += "    ]\n}\n"
        try source.write(toFile: arguments[2], atomically: true, encoding: .utf8)
    }
}
