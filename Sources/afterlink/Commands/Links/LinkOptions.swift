internal import Attribution
internal import Server

/// The options of `links create` and `links set`, one for each field of a link.
enum LinkOptions {
    static let all = LinkField.allCases.map { field in
        CommandOption(name(field), field.form.placeholder, isRepeatable: field.isList, help: field.form.help)
    }

    /// Returns the option's name: in general the field's JSON name with hyphens, in the singular for a list.
    static func name(_ field: LinkField) -> String {
        switch field {
        case .variants: "variant"
        case .tags: "tag"
        case .passedParameters: "pass-parameter"
        case .windowSeconds: "attribution-window"
        default: field.rawValue.replacing("_", with: "-")
        }
    }

    /// Sets the fields that the arguments name, and keeps the others; an empty text removes a field.
    static func apply(_ arguments: Arguments, to fields: inout LinkFields) {
        for field in LinkField.allCases {
            guard let texts = arguments.values(name(field)) else { continue }
            // A day means its start, as for the other times of commands.
            fields[field] = field == .expiresAt ? texts.map { TimeArgument.moment($0)?.iso8601 ?? $0 } : texts
        }
    }

    /// Runs `body`; if it refuses fields, the refusal names their options.
    static func namingOptions<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let problems as FieldProblems {
            throw FieldProblems(problems.all.map(inOptions))
        }
    }

    /// Replaces a field's name at the start of a message with the option's name.
    private static func inOptions(_ problem: FieldProblem) -> FieldProblem {
        let rest = problem.message.dropFirst(problem.field.count)
        guard let field = LinkField.allCases.first(where: { $0.rawValue == problem.field }),
            problem.message.hasPrefix(problem.field), rest.first == " " || rest.first == ":"
        else { return problem }
        return FieldProblem(field, "--\(name(field))\(rest)")
    }
}

extension LinkField {
    /// The placeholder of the option's value, and the option's help.
    fileprivate var form: (placeholder: String, help: String) {
        switch self {
        case .title: ("TEXT", "A title for finding the link.")
        case .destination:
            (
                "LINK",
                "The destination in the app: myapp://promo/item, a path such as /promo/item, which gets the app's scheme, or a"
                    + " page of the app's web hosts."
            )
        case .iosDestination: ("LINK", "The destination on iPhones and iPads instead of --destination.")
        case .androidDestination: ("LINK", "The destination on Android instead of --destination.")
        case .desktopURL: ("URL", "The page that desktop browsers get instead of the page with a QR code.")
        case .iosFallback: ("URL", "The page that iPhones without the app open instead of the App Store.")
        case .androidFallback:
            ("URL", "The page that Android phones without the app open instead of Google Play.")
        case .huaweiFallback: ("URL", "The page that Huawei's phones without the app open.")
        case .campaignKey: ("KEY", "The campaign of the link's clicks and installs.")
        case .source:
            (
                "TEXT",
                "The place of publication, as in instagram, facebook, qr or newsletter. The statistics by source and the exports"
                    + " of clicks and counters show any text; campaigns, events and postbacks show unknown for most texts."
            )
        case .utmSource: ("TEXT", "A text for the app's metadata.")
        case .utmMedium, .utmCampaign, .utmTerm, .utmContent: ("TEXT", "A text for the app's metadata.")
        case .metadata: ("JSON", "A JSON object that the app gets with its first launch.")
        case .journeyID: ("ID", "One journey id for all clicks; otherwise each click gets a new one.")
        case .windowSeconds:
            ("SECONDS", "The time after a click in which a first launch is credited to it, 60 to 2592000.")
        case .expiresAt: ("TIME", "The end of the link, as in 2027-01-31T18:00:00Z or 2027-01-31.")
        case .maximumClicks: ("N", "The number of clicks, without robots' clicks, after which the link ends.")
        case .variants:
            ("'NAME WEIGHT LINK'", "One of several destinations, by weight: 'b 30 myapp://promo/b'.")
        case .referralCode: ("CODE", "The referrer's code for the app's metadata.")
        case .previewTitle: ("TEXT", "The title that messengers show for the link, 250 characters at most.")
        case .previewDescription: ("TEXT", "The line below the title, 250 characters at most.")
        case .previewImage: ("URL", "The picture of the preview.")
        case .pasteboard: ("true|false", "Whether a visitor's tap may copy the link to the pasteboard.")
        case .passedParameters: ("NAME", "A query parameter that the link passes on to the destination.")
        case .tags: ("TAG", "A tag for finding links.")
        case .qrForeground: ("#RRGGBB", "Colour of the QR code.")
        case .qrBackground: ("#RRGGBB", "Colour of the QR code's background.")
        case .qrErrorCorrection:
            ("L|M|Q|H", "The share of the QR code that may be damaged: L 7 %, M 15 %, Q 25 %, H 30 %.")
        }
    }
}

/// Finds the link that a command is about.
enum LinkChoice {
    static let operand = CommandDescription.Operand.required("LINK", "The link, by id or slug.")
    static let app = CommandOption(
        "app",
        "APP",
        help: "The app, by id or name; needed if several apps have a link with this slug."
    )

    /// Returns the description of a command on one link.
    static func description(
        _ name: String,
        summary: String,
        discussion: String,
        examples: KeyValuePairs<String, String>,
        run: @escaping @Sendable (Invocation) async throws -> Void
    ) -> CommandDescription {
        CommandDescription(
            name: name,
            summary: summary,
            discussion: [discussion],
            operands: [operand],
            options: [app, .json],
            settings: CommandDatabase.settings,
            examples: examples,
            run: run
        )
    }

    static func find(_ invocation: Invocation, in database: CommandDatabase) async throws -> LinkListing {
        let text = invocation.arguments.operands.first ?? ""
        let directory = try database.directory()
        if let id = LinkID(text) {
            guard let listing = try await database.links.link(id) else { throw unknown(text) }
            return listing
        }
        let chosen = try AppChoice.named(invocation.arguments, in: directory)
        let apps = (chosen.map { [$0] } ?? directory.apps).map(\.id)
        guard let listing = try await database.links.link(LinkSlug(stored: text), of: apps) else {
            throw unknown(text)
        }
        let others = apps.filter { $0 != listing.link.app }
        guard try await database.links.link(LinkSlug(stored: text), of: others) == nil else {
            throw CommandFailure.usage("Several apps have a link \"\(text)\".")
                .advising("Name the app with --app, or give the link's id.")
        }
        // The counts of a link that was found by its slug may be a second old.
        return try await database.links.link(listing.link.id) ?? listing
    }

    private static func unknown(_ text: String) -> CommandFailure {
        CommandFailure.because("There is no link \"\(text)\".")
            .advising(
                "`afterlink links list` shows the links, and with --archived the archived ones."
            )
    }
}

extension CommandDatabase {
    /// Changes a link; tries up to four times if other processes change the link meanwhile.
    func change(_ listing: LinkListing, _ change: (inout Link) throws -> Void) async throws -> LinkListing {
        var listing = listing
        for _ in 0..<4 {
            var link = listing.link
            try change(&link)
            link.updatedAt = WallClock.system.now()
            do throws(LinkStoreError) {
                try await self.links.update(link, ifUpdatedAt: listing.link.updatedAt, by: .commandLine)
            } catch {
                guard error == .changed, let changed = try await self.links.link(link.id) else { throw error }
                listing = changed
                continue
            }
            return try await self.links.link(link.id) ?? listing
        }
        throw LinkStoreError.changed
    }
}
