/// Scripts as they are sent: without what only their readers need.
enum PageScript {
    /// Leaves out lines that are comments, empty lines and indentation.
    ///
    /// Scripts here are written for it: no text goes over more than one line.
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
