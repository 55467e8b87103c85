import Foundation

/// Reads QR codes from pictures with Debian's `zbarimg`.
public enum QRReader {
    /// Returns the text of the only code in each picture, in order; nil if there is none, or more than one.
    public static func texts(ofFiles files: [String]) throws -> [String?] {
        var texts: [String: String] = [:]
        for source in try read(files, as: "--xml").components(separatedBy: "<source href='").dropFirst() {
            let file = String(source.prefix { $0 != "'" })
            let symbols = source.components(separatedBy: "<data").dropFirst()
            guard symbols.count == 1, let symbol = symbols.first,
                let start = symbol.range(of: "<![CDATA["), let end = symbol.range(of: "]]></data>")
            else { continue }
            guard !symbol[..<start.lowerBound].contains("base64") else {
                // zbarimg encodes texts beyond ASCII wrongly as base64, so read this text without XML.
                texts[file] = String(try read([file], as: "--raw").dropLast())
                continue
            }
            texts[file] = String(symbol[start.upperBound..<end.lowerBound])
        }
        return files.map { texts[$0] }
    }

    /// Returns the text of the only code in a picture, which may be an SVG; nil if there is none, or more than one.
    public static func text(of picture: [UInt8]) throws -> String? {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.file("picture")
        try Data(picture).write(to: URL(filePath: file))
        let isSVG = picture.first == UInt8(ascii: "<")
        return try texts(ofFiles: [isSVG ? drawn(file) : file]).first ?? nil
    }

    /// Draws an SVG with Debian's `rsvg-convert`, and returns the PNG file, which is in the same folder.
    public static func drawn(_ svg: String) throws -> String {
        let png = svg + ".png"
        _ = try ExternalProgram.run("rsvg-convert", ["--output", png, svg])
        return png
    }

    private static func read(_ files: [String], as form: String) throws -> String {
        let options = ["--quiet", form, "--nodbus", "-Sdisable", "-Sqrcode.enable"]
        // zbarimg ends with status 4 if a picture contains no code.
        let output = try ExternalProgram.run("zbarimg", options + files, statuses: [0, 4])
        return String(decoding: output, as: UTF8.self)
    }
}
