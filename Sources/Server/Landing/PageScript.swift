/// Scripts as they are sent, without what only their readers need.
enum PageScript {
    /// Removes comment lines, empty lines and indentation.
    ///
    /// The scripts are written for it: none has a text over several lines.
    static func compact(_ source: String) -> [UInt8] {
        var script: [UInt8] = []
        for line in source.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = line.drop { $0 == UInt8(ascii: " ") }
            guard !line.isEmpty, !line.starts(with: "//".utf8) else { continue }
            script += line
            script.append(UInt8(ascii: "\n"))
        }
        return script
    }
}
