internal import Attribution
internal import QRCodes

/// The command `afterlink links qr`.
enum DrawQRCodeCommand {
    static let description = CommandDescription(
        name: "links qr",
        summary: "Draw a link's QR code",
        discussion: [
            "Writes the QR code of a link as SVG, which is sharp at every size, or as PNG, by the file's ending. A scan"
                + " opens the link with the source qr. Options that are left out take the link's own values.",
            "Only what scanners can read is drawn: dark modules on a light background, two pixels or more for each, and a"
                + " logo in the centre only where the code can do without what it covers.",
        ],
        operands: [LinkChoice.operand],
        options: CommandOption.table([
            "output FILE": "A new file to write to, FILE.svg or FILE.png."
        ]) + [LinkChoice.app] + QRStyleField.allCases.map(option),
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links qr summer25 --output summer25.svg": "For print.",
            "afterlink links qr summer25 --output summer25.png --size 1024 --foreground '#1a2b3c' --logo":
                "A picture with room for a logo in its centre.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
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
            throw CommandFailure(
                "The link's app has no link host, so the link has no address yet that could be printed.",
                advice: "Set one with `afterlink apps set --link-host`."
            )
        }
        let style = try QRStyle(fields(arguments), of: link.settings)
        let file = try QRPicture(ofLink: url, in: style).file(format, title: "QR code: \(url)")
        try NewFile(path).write(file)
        return .success
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
            case .size:
                ("PIXELS", "Width and height, \(range(QRStyle.allowedPixels)); 512 if it is not given.")
            case .foreground: ("#RRGGBB", "Colour of the dark modules.")
            case .background: ("#RRGGBB", "Colour behind them.")
            case .errorCorrection:
                ("L|M|Q|H", "How much of it may be damaged: L 7 %, M 15 %, Q 25 %, H 30 %.")
            case .quietZone:
                (
                    "MODULES",
                    "Width of the empty border, \(range(QRStyle.allowedQuietZone)); 4 if it is not given."
                )
            case .logo: (nil, "Leave the centre free for a logo, at level H.")
            }
        return CommandOption(name(field), placeholder, help: help)
    }

    private static func range(_ range: ClosedRange<Int>) -> String {
        "\(range.lowerBound) to \(range.upperBound)"
    }
}
