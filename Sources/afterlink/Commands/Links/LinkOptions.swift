internal import Attribution

/// The options of `links create` and `links set`: a field of a link each.
enum LinkOptions {
    static let all = LinkField.allCases.map { field in
        CommandOption(
            name(field),
            field.placeholder,
            isRepeatable: field.isList,
            help: field.help
        )
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
    fileprivate var placeholder: String {
        switch self {
        case .destination, .iosDestination, .androidDestination: "LINK"
        case .desktopURL, .iosFallback, .androidFallback, .huaweiFallback, .previewImage: "URL"
        case .windowSeconds: "SECONDS"
        case .expiresAt: "TIME"
        case .maximumClicks: "N"
        case .metadata: "JSON"
        case .variants: "'NAME WEIGHT LINK'"
        case .pasteboard: "true|false"
        case .qrForeground, .qrBackground: "#RRGGBB"
        case .qrErrorCorrection: "L|M|Q|H"
        case .passedParameters: "NAME"
        case .tags: "TAG"
        case .campaignKey: "KEY"
        case .journeyID: "ID"
        case .referralCode: "CODE"
        case .title, .source, .utmSource, .utmMedium, .utmCampaign, .utmTerm, .utmContent, .previewTitle,
            .previewDescription:
            "TEXT"
        }
    }

    fileprivate var help: String {
        switch self {
        case .title: "A title, to find the link by."
        case .destination:
            "Where the link leads in the app: myapp://promo/item, or a path such as /promo/item that the app's scheme is"
                + " put before, or a page of the app's web hosts."
        case .iosDestination: "The destination on iPhones and iPads instead."
        case .androidDestination: "The destination on Android instead."
        case .desktopURL: "Where desktop browsers are sent instead of a page that hands over to the phone."
        case .iosFallback: "Where iPhones without the app are sent instead of the App Store."
        case .androidFallback: "Where Android phones without the app are sent instead of Google Play."
        case .huaweiFallback: "Where Huawei's phones without the app are sent."
        case .campaignKey: "The campaign that clicks and installs count for."
        case .source: "Where the link is published, as in instagram, facebook, qr or newsletter."
        case .utmSource: "Goes to the app with the metadata, as the other utm fields do."
        case .utmMedium, .utmCampaign, .utmTerm, .utmContent: "As --utm-source."
        case .metadata: "A JSON object that the app gets with its first launch."
        case .journeyID: "One journey id for all clicks; otherwise each gets its own."
        case .windowSeconds: "How long after a click a first launch is credited to it, 60 to 2592000."
        case .expiresAt: "When the link stops working, as in 2027-01-31T18:00:00Z."
        case .maximumClicks: "The number of people who may click it."
        case .variants: "One of several destinations, by weight: 'b 30 myapp://promo/b'."
        case .referralCode: "The referrer's code; goes to the app with the metadata."
        case .previewTitle: "The title that messengers show for the link, 250 characters at most."
        case .previewDescription: "The line below it, 250 characters at most."
        case .previewImage: "The picture beside it."
        case .pasteboard: "Whether the page may put the link on the pasteboard, on the visitor's tap."
        case .passedParameters: "A query parameter that is handed on to the destination."
        case .tags: "A tag, to find links by."
        case .qrForeground: "Colour of its QR code."
        case .qrBackground: "Colour behind it."
        case .qrErrorCorrection: "How much of the code may be damaged: L 7 %, M 15 %, Q 25 %, H 30 %."
        }
    }
}
