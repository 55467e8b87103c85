internal import Attribution
internal import QRCodes

/// The command `afterlink links qr`.
enum DrawQRCodeCommand {
    static let description = CommandDescription(
        name: "links qr",
        summary: "Draw a link's QR code",
        discussion: [
            "Writes the QR code of a link as SVG, which is sharp at every size, or as PNG, by the ending of FILE. A scan"
                + " opens the link with the source qr. Without an option, the link's own value applies.",
            "The command refuses a code that scanners cannot read. A code needs dark modules on a light background, at least"
                + " two pixels for each module, and a logo that covers no more than the error correction restores.",
        ],
        operands: [LinkChoice.operand],
        options: CommandOption.table([
            "output FILE": "Write to this new file, FILE.svg or FILE.png."
        ]) + [LinkChoice.app] + QRStyleField.allCases.map(option),
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links qr summer25 --output summer25.svg": "Draw a code for print.",
            "afterlink links qr summer25 --output summer25.png --size 1024 --foreground '#1a2b3c' --logo":
                "Draw a picture with room for a logo in its centre.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        guard let path = arguments.value("output") else {
            throw CommandFailure.usage("`afterlink links qr` needs a file to write to.")
                .advising("Name a new file with --output, as in --output code.svg.")
        }
        guard let format = QRPicture.Format(fileName: path) else {
            throw CommandFailure.wrongValue("output", path, "must end in .svg or .png")
        }
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        let link = try await LinkChoice.find(invocation, in: database).link
        guard let url = directory.app(link.app).flatMap(link.url(of:)) else {
            throw CommandFailure.because("The link has no address, because its app has no link host.")
                .advising("Set one with `afterlink apps set --link-host`.")
        }
        let style = try QRStyle(fields(arguments), of: link.settings)
        let file = try QRPicture(ofLink: url, in: style).file(format, title: "QR code: \(url)")
        try NewFile(path).write(file)
    }

    private static func fields(_ arguments: Arguments) -> QRStyleFields {
        var fields = QRStyleFields()
        for field in QRStyleField.allCases {
            if field.kind == .flag {
                if arguments.has(name(field)) { fields.set(field, "true") }
            } else {
                fields.set(field, arguments.value(name(field)))
            }
        }
        return fields
    }

    private static func name(_ field: QRStyleField) -> String { field.rawValue.replacing("_", with: "-") }

    private static func option(_ field: QRStyleField) -> CommandOption {
        let (placeholder, help): (String?, String) =
            switch field {
            case .size: ("PIXELS", "Width and height, \(range(QRStyle.allowedPixels)). Default: 512.")
            case .foreground: ("#RRGGBB", "Colour of the dark modules.")
            case .background: ("#RRGGBB", "Colour of the background.")
            case .errorCorrection:
                ("L|M|Q|H", "The share that may be damaged: L 7 %, M 15 %, Q 25 %, H 30 %.")
            case .quietZone:
                ("MODULES", "Width of the empty border, \(range(QRStyle.allowedQuietZone)). Default: 4.")
            case .logo: (nil, "Leave the centre free for a logo, with error correction H.")
            }
        return CommandOption(name(field), placeholder, help: help)
    }

    private static func range(_ range: ClosedRange<Int>) -> String {
        "\(range.lowerBound) to \(range.upperBound)"
    }
}
