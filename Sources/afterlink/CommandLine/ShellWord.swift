/// Words of a command line, quoted for pasting into a shell.
package enum ShellWord {
    /// The text as one word of a POSIX shell: as it is where nothing in it has a meaning, else between single quotes.
    package static func quoted(_ text: String) -> String {
        guard text.isEmpty || !text.utf8.allSatisfy(isPlain) else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
            + "'"
    }

    /// A path that comes first, where an option could stand, as one word.
    package static func quoted(operand path: String) -> String {
        quoted(path.hasPrefix("-") ? "./" + path : path)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+=:,@%".utf8.contains(byte)
        }
    }
}
