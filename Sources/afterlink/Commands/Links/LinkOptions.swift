internal import Attribution
internal import Server

/// The options of `links create` and `links set`: a field of a link each.
enum LinkOptions {
    static let all = LinkField.allCases.map { field in
        CommandOption(name(field), field.form.placeholder, isRepeatable: field.isList, help: field.form.help)
    }

    /// The field's name on the wire, with hyphens; that of one text where there may be several.
    static func name(_ field: LinkField) -> String {
        switch field {
        case .variants: "variant"
        case .tags: "tag"
        case .passedParameters: "pass-parameter"
        case .windowSeconds: "attribution-window"
        default: field.rawValue.replacing("_", with: "-")
        }
    }

    /// Sets what the arguments name and leaves the rest; an empty text takes a field away.
    static func apply(_ arguments: Arguments, to fields: inout LinkFields) {
        for field in LinkField.allCases {
            if let texts = arguments.values(name(field)) { fields[field] = texts }
        }
    }

    static func areGiven(in arguments: Arguments) -> Bool {
        LinkField.allCases.contains { arguments.has(name($0)) }
    }
}

extension LinkField {
    /// The placeholder of its value, and what the help says of it.
    fileprivate var form: (placeholder: String, help: String) {
        switch self {
        case .title: ("TEXT", "A title, to find the link by.")
        case .destination:
            (
                "LINK",
                "Where the link leads in the app: myapp://promo/item, or a path such as /promo/item that the app's scheme is"
                    + " put before, or a page of the app's web hosts."
            )
        case .iosDestination: ("LINK", "The destination on iPhones and iPads instead.")
        case .androidDestination: ("LINK", "The destination on Android instead.")
        case .desktopURL:
            ("URL", "Where desktop browsers are sent instead of a page that hands over to the phone.")
        case .iosFallback: ("URL", "Where iPhones without the app are sent instead of the App Store.")
        case .androidFallback:
            ("URL", "Where Android phones without the app are sent instead of Google Play.")
        case .huaweiFallback: ("URL", "Where Huawei's phones without the app are sent.")
        case .campaignKey: ("KEY", "The campaign that clicks and installs count for.")
        case .source: ("TEXT", "Where the link is published, as in instagram, facebook, qr or newsletter.")
        case .utmSource: ("TEXT", "Goes to the app with the metadata, as the other utm fields do.")
        case .utmMedium, .utmCampaign, .utmTerm, .utmContent: ("TEXT", "As --utm-source.")
        case .metadata: ("JSON", "A JSON object that the app gets with its first launch.")
        case .journeyID: ("ID", "One journey id for all clicks; otherwise each gets its own.")
        case .windowSeconds:
            ("SECONDS", "How long after a click a first launch is credited to it, 60 to 2592000.")
        case .expiresAt: ("TIME", "When the link stops working, as in 2027-01-31T18:00:00Z.")
        case .maximumClicks: ("N", "The number of people who may click it.")
        case .variants:
            ("'NAME WEIGHT LINK'", "One of several destinations, by weight: 'b 30 myapp://promo/b'.")
        case .referralCode: ("CODE", "The referrer's code; goes to the app with the metadata.")
        case .previewTitle: ("TEXT", "The title that messengers show for the link, 250 characters at most.")
        case .previewDescription: ("TEXT", "The line below it, 250 characters at most.")
        case .previewImage: ("URL", "The picture beside it.")
        case .pasteboard:
            ("true|false", "Whether the page may put the link on the pasteboard, on the visitor's tap.")
        case .passedParameters: ("NAME", "A query parameter that is handed on to the destination.")
        case .tags: ("TAG", "A tag, to find links by.")
        case .qrForeground: ("#RRGGBB", "Colour of its QR code.")
        case .qrBackground: ("#RRGGBB", "Colour behind it.")
        case .qrErrorCorrection:
            ("L|M|Q|H", "How much of the code may be damaged: L 7 %, M 15 %, Q 25 %, H 30 %.")
        }
    }
}

/// Finds the link that a command is about.
enum LinkChoice {
    static let operand = CommandDescription.Operand.required("LINK", "The link, by id or slug.")
    static let app = CommandOption(
        "app",
        "APP",
        help: "The app, by id or name; needed where several have a link of this slug."
    )

    /// A command about one link.
    static func description(
        _ name: String,
        summary: String,
        discussion: String,
        examples: KeyValuePairs<String, String>,
        run: @escaping @Sendable (Invocation) async throws -> ExitCode
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

    static func find(_ invocation: Invocation, in database: CommandDatabase) async throws
        -> LinkListing
    {
        let text = invocation.arguments.operands.first ?? ""
        let directory = try database.directory()
        if let id = LinkID(text) {
            guard let listing = try await database.links.link(id) else { throw unknown(text) }
            return listing
        }
        let chosen = try invocation.arguments.value("app").map { name in
            [try AppChoice.find(name, in: directory)]
        }
        let apps = (chosen ?? directory.apps).map(\.id)
        guard let listing = try await database.links.link(LinkSlug(stored: text), of: apps) else {
            throw unknown(text)
        }
        let others = apps.filter { $0 != listing.link.app }
        guard try await database.links.link(LinkSlug(stored: text), of: others) == nil else {
            throw CommandFailure.usage("Several apps have a link \"\(text)\".")
                .advising("Say which one with --app, or give the link's id.")
        }
        return listing
    }

    private static func unknown(_ text: String) -> CommandFailure {
        CommandFailure.because("There is no link \"\(text)\".")
            .advising(
                "`afterlink links list` shows those there are, with --archived also those that lead nowhere any more."
            )
    }
}

extension CommandDatabase {
    /// Changes a link, and retries if another process has changed it meanwhile.
    func change(_ listing: LinkListing, _ change: (inout Link) throws -> Void) async throws -> LinkListing {
        var listing = listing
        for _ in 0..<4 {
            var link = listing.link
            try change(&link)
            link.updatedAt = WallClock.system.now()
            do throws(LinkStoreError) {
                try await links.update(link, ifUpdatedAt: listing.link.updatedAt)
            } catch {
                guard error == .changed, let changed = try await links.link(link.id) else { throw error }
                listing = changed
                continue
            }
            return try await links.link(link.id) ?? listing
        }
        throw LinkStoreError.changed
    }
}
